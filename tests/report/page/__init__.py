"""Tests of `hpcsched/report/page`."""
