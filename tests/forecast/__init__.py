"""Tests of `hpcsched/forecast`."""
