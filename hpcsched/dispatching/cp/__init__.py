"""Dispatching by constraint programming (CP).

A round goes through these modules in turn: `selection` picks the jobs and nodes that matter and
puts them into `ModelData`; `list_plans` makes plans to start from; a formulation (`formulations/`,
one module each) builds a CPMpy model, knowing nothing of solvers; `solving` gives it to a backend
(`backends/`, one module each) within limits; `dispatcher` turns the answer into a decision.
"""
