"""Tests of `hpcsched/first_look`."""
