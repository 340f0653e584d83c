"""Tests of `hpcsched/studies/whatif`."""
