"""Dispatching on a real cluster that Slurm runs: reading it, placing held jobs, its history.

What Slurm says and does here was seen with Slurm 22.05.8 and its REST interface v0.0.38; the names
are those of its manual pages (https://slurm.schedmd.com/archive/slurm-22.05.8/).
"""

__version__ = "0.2.0"
