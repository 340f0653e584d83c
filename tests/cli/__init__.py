"""Tests of hpcsched.cli."""
