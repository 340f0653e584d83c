"""Tests of `hpcsched/report/tables`."""
