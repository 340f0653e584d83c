"""Dispatching on a real cluster that Slurm runs: reading it, placing held jobs, its history.

Names are those of the manual pages of Slurm 22.05 (https://slurm.schedmd.com/archive/slurm-22.05.8/)
and of v0.0.38 of its REST interface; `versions` gives answers of later versions the same form.
"""

__version__ = "0.2.0"
