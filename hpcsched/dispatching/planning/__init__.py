"""Dispatching by planning: from a dispatching problem to arrays, to a plan, to a decision.

`planning_dispatcher` goes through the steps of a round. `selection` picks the jobs and nodes that
matter and puts them into `ModelData`, where times and amounts are whole numbers; a `Plan` gives
each job a start and nodes; `list_plans` makes plans by list scheduling; an `Improver` looks for a
better one by the `SearchObjective` (order search: `search`; a solver: `cp`); `plan_execution`
starts what the best plan starts now, and `explaining` gives reasons.
"""
