"""Slurm's syntax: generic resources, TRES, durations, memory sizes, `key=value` lines.

Each has one module, which every reader of Slurm's output uses. The modules know nothing of
scenarios, traces or clusters.
"""
