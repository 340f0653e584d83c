"""Tests of hpcsched.experiment and hpcsched.execution."""
