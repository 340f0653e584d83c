"""Tests of `hpcsched/studies/tuning`."""
