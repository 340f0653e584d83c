"""Constraint programming (CP): an improver of list plans that calls a solver.

`cp_improver` calls it about all that is planned or the first of it, chooses the warm starts and
adds the answers to the plans, after `solver_client` has checked them. A formulation
(`formulations/`, one module each) builds a CPMpy model, knowing nothing of solvers; `model_solving`
gives it to a backend (`backends/`, one module each) within limits, in a process of its own
(`solver_process`).
"""
