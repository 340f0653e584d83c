"""Slurm's syntax."""
