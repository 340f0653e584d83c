"""Tests of hpcsched.metrics."""
