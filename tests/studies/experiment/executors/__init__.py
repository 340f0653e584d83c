"""Tests of `hpcsched/studies/experiment/executors`."""
