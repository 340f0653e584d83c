"""Dispatching by planning: from a dispatching problem to arrays, to a plan, to a decision.

`planning_dispatcher` goes through the steps of a round. `model_building` picks the jobs and nodes
that matter and puts them into `ModelData`, where times and amounts are whole numbers, as a
`Selection`; a `Plan` gives each job a start and nodes; `list_plans` makes plans by list scheduling;
an `Improver` looks for a better one by the `SearchObjective` (order search: `search`; a solver:
`cp`); `plan_execution` starts what the best plan starts now, and gives reasons.
"""

from typing import Literal

Jobs = Literal["fitting", "pool", "all"]
"""Jobs of a model: those that fit on nodes now, those that ask for no more than is free, or all."""
