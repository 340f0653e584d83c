"""Tests of hpcsched.experiment and hpcsched.experiment.executors."""
