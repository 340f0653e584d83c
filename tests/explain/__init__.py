"""Tests of `hpcsched/explain`."""
