"""Constraint programming (CP): an improver of list plans that asks a solver.

`improver` asks about all that is planned or the first of it (`models`, `part`); `calls` says from
which plans the solver starts and what becomes of its answers, which `asking` checks. A formulation
(`formulations/`, one module each) builds a CPMpy model, knowing nothing of solvers; `solving` gives
it to a backend (`backends/`, one module each) within limits, in a process of its own (`guard`).
"""
