"""Tests of `hpcsched/workload/trace_writing.py`."""
