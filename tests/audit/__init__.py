"""Tests of `hpcsched/audit`."""
