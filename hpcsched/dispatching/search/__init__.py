"""Dispatching by searching the order in which list scheduling takes the jobs.

Compiled: `order_kernels`, the search. `surrogate_objective` changes an objective in view of jobs
that are yet to come, and `improver` looks for a better plan of a round (see `planning`).
"""
