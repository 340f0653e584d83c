"""Tests of `hpcsched/experiment/executors`."""
