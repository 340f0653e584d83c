"""Tests of `hpcsched_slurm.site`."""
