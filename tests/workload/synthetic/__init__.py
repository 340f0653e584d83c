"""Tests of made-up workloads."""
