"""Tests of `hpcsched/workload/writers`."""
