"""Readers of the accounting logs of resource managers: Slurm and PBS."""
