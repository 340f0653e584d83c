"""Constraint programming (CP): an improver of list plans that calls a solver.

`cp_improver` calls it about all that is planned or the first of it, chooses the warm starts, checks
the answers and adds them to the plans. A formulation (`formulations/`) builds a CPMpy model,
knowing nothing of solvers; `solver_process` gives it to a backend (`backends/`, one module each)
within limits, in a process of its own.
"""
