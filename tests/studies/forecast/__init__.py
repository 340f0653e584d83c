"""Tests of `hpcsched/studies/forecast`."""
