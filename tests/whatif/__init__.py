"""Tests of `hpcsched/whatif`."""
