"""Tests of `hpcsched/studies/executors`."""
