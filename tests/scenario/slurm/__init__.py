"""Tests of `hpcsched/scenario/slurm`."""
