"""Tests of `hpcsched/workload/archive`."""
