"""Tests of `hpcsched_slurm.logs`."""
