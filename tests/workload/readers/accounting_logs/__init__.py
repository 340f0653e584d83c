"""Tests of `hpcsched/workload/readers/accounting_logs`."""
