"""Dispatching by constraint programming (CP).

A round goes through these modules in turn: the jobs and nodes that matter become `ModelData`, and
list plans are made to start from (`planning`); a formulation (`formulations/`, one module each)
builds a CPMpy model, knowing nothing of solvers; `solving` gives it to a backend (`backends/`, one
module each) within limits; `dispatcher` turns the answer into a decision.
"""
