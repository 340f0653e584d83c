"""Logs of Slurm: what sacct prints, jobs and failures of nodes."""
