"""The scheduling part that formulations share: starts, what is held, the objective.

In the papers' notation (Galleguillos et al., CP 2021, section 2.2): s(τᵢ) is `starts[i]`, d(τᵢ)
`run_times[i]`, with now as time 0 and eoh as `horizon`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import cpmpy as cp

from hpcsched.dispatching.cp.formulation import Variable
from hpcsched.dispatching.cp.model_data import ModelData
from hpcsched.system.system import IntArray


def start_variables(data: ModelData) -> list[Variable]:
    """Return a start for each job, from now to its latest, `[J]`."""
    return [
        cp.intvar(0, latest, name=f"s{i}") for i, latest in enumerate(data.latest_starts.tolist())
    ]


def objective(data: ModelData, starts: Sequence[Variable]) -> tuple[Any, list[Any]]:
    """Return what to minimise, and the constraints that it needs.

    It is Σ weights · max(start, free) + makespan · last end.
    """
    terms, constraints = [], []
    constant = 0
    for i, start in enumerate(starts):
        weight, free = int(data.weights[i]), int(data.free[i])
        if not weight:
            continue
        latest = start if isinstance(start, int) else int(data.latest_starts[i])
        if free >= latest:
            constant += weight * free
            continue
        if free > 0:
            late = cp.intvar(free, latest, name=f"late{i}")
            constraints.append(late >= start)
            start = late  # noqa: PLW2901
        terms.append(weight * start)
    if data.makespan and len(starts):
        end = cp.intvar(int(data.run_times.max()), data.horizon, name="end")
        constraints += [
            end >= start + int(run_time)
            for start, run_time in zip(starts, data.run_times, strict=True)
        ]
        terms.append(data.makespan * end)
    # CPMpy wants a variable in what is minimised.
    return cp.sum(terms or [cp.intvar(0, 0, name="nothing")]) + constant, constraints


def cumulatives(
    data: ModelData, starts: Sequence[Variable], demands: IntArray, capacity: Iterable[int]
) -> list[Any]:
    """Return a cumulative for each resource type over all nodes together.

    `demands`, `[J, R]`, is what each job holds, `capacity`, `[R]`, what there is. Running jobs are
    merged by their ends. A type that cannot be short gets none.
    """
    constraints = []
    for r, total in enumerate(capacity):
        tasks = [
            (start, int(run_time), int(demand))
            for start, run_time, demand in zip(starts, data.run_times, demands[:, r], strict=True)
            if demand
        ]
        tasks += [(0, end, int(held[r])) for end, held in data.held_together if held[r]]
        if sum(demand for _, _, demand in tasks) > total:
            begin, durations, amounts = (list(column) for column in zip(*tasks, strict=True))
            constraints.append(cp.Cumulative(begin, durations, demand=amounts, capacity=int(total)))
    return constraints


def in_values(variable: Variable, values: Sequence[int]) -> list[Any]:
    """Return what keeps a variable to ascending values, whose first and last are its bounds."""
    if values[-1] - values[0] + 1 == len(values):
        return []
    return [cp.Table([variable], [[value] for value in values])]
