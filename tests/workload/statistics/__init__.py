"""Tests of `hpcsched/workload/statistics`."""
