"""Tests of hpcsched.runs."""
