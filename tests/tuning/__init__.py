"""Tests of `hpcsched/tuning`."""
