"""Tests of hpcsched.results."""
