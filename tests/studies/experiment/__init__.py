"""Tests of hpcsched.studies.experiment and hpcsched.studies.experiment.executors."""
