"""Tests of `hpcsched/runs`."""
