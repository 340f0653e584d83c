"""Logs of resource managers: Slurm's accounting, and that of PBS."""
