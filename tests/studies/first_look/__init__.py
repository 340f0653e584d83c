"""Tests of `hpcsched/studies/first_look`."""
