"""Tests of `hpcsched/gym`."""
