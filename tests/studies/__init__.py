"""Tests of `hpcsched/studies`."""
