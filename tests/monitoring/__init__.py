"""Tests of `hpcsched/monitoring`."""
