"""Slurm's syntax: host lists, generic resources, TRES, durations, memory sizes, `key=value` lines.

Each has one module, which every reader of what Slurm says uses. Nothing is known here of scenarios,
traces or clusters.
"""
