"""Tests of `hpcsched/report/figures`."""
