"""Tests of `hpcsched/workload/readers`."""
