"""Tests of hpcsched.scenario."""
