"""Tests of hpcsched.report."""
