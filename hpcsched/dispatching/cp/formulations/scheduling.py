"""The scheduling part that formulations share: starts, allocated amounts, the objective.

In the papers' notation (Galleguillos et al., CP 2021, section 2.2): s(τᵢ) is `starts[i]`, d(τᵢ)
`run_times[i]`, with now as time 0 and eoh as `horizon`.
"""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

import cpmpy as cp
import numpy as np

from hpcsched.dispatching.cp.formulation import Phase, Value, Variable
from hpcsched.dispatching.cp.formulations.curve_costs import curve_cost
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData


def start_variables(data: ModelData) -> list[Variable]:
    """Return a start variable for each job, from now to its latest start, `[J]`."""
    return [
        cp.intvar(0, latest, name=f"s{i}") for i, latest in enumerate(data.latest_starts.tolist())
    ]


def start_objective(data: ModelData, starts: Sequence[Variable]) -> tuple[Any, list[Any]]:
    """Return the expression to minimise, and the constraints that it needs.

    It is Σ weights · max(start, free) + makespan · last end + Σ curve at start.

    Parameters
    ----------
    data
        The model's data.
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    """
    terms, constraints = [], []
    constant = 0
    for i, start in enumerate(starts):
        latest = start if isinstance(start, int) else int(data.latest_starts[i])
        for t, (weight, free) in enumerate(
            zip(data.weights[:, i].tolist(), data.free[:, i].tolist(), strict=True)
        ):
            if not weight:
                continue
            # The start never matters for this term, so no variable is spent on it.
            if free >= latest:
                constant += weight * free
                continue
            late = start
            if free > 0:
                late = cp.intvar(free, latest, name=f"late{t},{i}")
                # Only from below: as it is minimised, it becomes the later of start and `free`.
                constraints.append(late >= start)
            terms.append(weight * late)
    for i, (start, curve) in enumerate(zip(starts, data.curves or (), strict=bool(data.curves))):
        if isinstance(start, int) or not any(curve.slopes):
            constant += curve.value(start if isinstance(start, int) else 0)
            continue
        cost, needed = curve_cost(curve, start, str(i))
        terms.append(cost)
        constraints += needed
    if data.makespan and len(starts):
        end = cp.intvar(int(data.run_times.max()), data.horizon, name="end")
        constraints += [
            end >= start + int(run_time)
            for start, run_time in zip(starts, data.run_times, strict=True)
        ]
        terms.append(data.makespan * end)
    # CPMpy wants a variable in what is minimised.
    return cp.sum(terms or [cp.intvar(0, 0, name="nothing")]) + constant, constraints


def start_by_start(
    starts: Sequence[Variable], then: Iterable[Sequence[Variable]], value: Value = "least"
) -> list[Phase]:
    """Return the papers' search: job by job its start, and then its other variables.

    Parameters
    ----------
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    then
        Each job's other variables.
    value
        End from which the other variables' values are tried.
    """
    pairs = zip(starts, then, strict=True)
    return [phase for start, others in pairs for phase in (Phase([start]), Phase(others, value))]


def largest_aggregated_area(data: ModelData) -> int:
    """Return the largest area of a resource type, over all nodes and the horizon."""
    totals = data.totals if data.aggregated_nodes is None else data.aggregated_nodes.capacity
    return int(totals.max(initial=1)) * data.horizon


def cumulatives(data: ModelData, starts: Sequence[Variable]) -> list[Any]:
    """Return a cumulative for each resource type over all nodes together.

    Running jobs are merged by their ends, and closed nodes by the times at which they are. A type
    that cannot be short gets none.

    Parameters
    ----------
    data
        The model's data.
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    """
    constraints = []
    demands = data.demands
    for r, total in enumerate(data.totals.tolist()):
        tasks = [
            (start, int(run_time), int(demand))
            for start, run_time, demand in zip(starts, data.run_times, demands[:, r], strict=True)
            if demand
        ]
        tasks += [
            (0, end, int(allocated[r]))
            for end, allocated in data.allocated_together
            if allocated[r]
        ]
        tasks += [
            (begin, end - begin, int(closed[r]))
            for begin, end, closed in data.closed_together
            if closed[r]
        ]
        # Otherwise all tasks fit at once, and the constraint would only cost propagation.
        if sum(demand for _, _, demand in tasks) > total:
            begin, durations, amounts = (list(column) for column in zip(*tasks, strict=True))
            constraints.append(cp.Cumulative(begin, durations, demand=amounts, capacity=total))
    return constraints


def system_cumulatives(data: ModelData, starts: Sequence[Variable]) -> list[Any]:
    """Return a cumulative for each resource type, over all nodes of the system together.

    Parameters
    ----------
    data
        The model's data.
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    """
    if data.aggregated_nodes is None:
        return cumulatives(data, starts)
    return shared_resource_cumulatives(data, data.aggregated_nodes, starts, put_off=True)


def shared_resource_cumulatives(
    data: ModelData,
    shared_resources: SharedResourceData,
    starts: Sequence[Variable],
    *,
    put_off: bool = False,
) -> list[Any]:
    """Return a cumulative for each shared resource, where one can be short.

    As power is in the first HCP (Borghesi et al.; thesis 2020, section 2.3), a shared resource is
    one more resource that all jobs share. While less than its largest amount is free, a fixed task
    takes the difference.

    Parameters
    ----------
    data
        The model's data.
    shared_resources
        The shared resources.
    starts
        The start variables, `[J]`.
    put_off
        Whether jobs with a fixed start, which are put off to the end, draw as well.
    """
    constraints = []
    # The last amount lasts for ever; a task needs a finite length, up to the horizon.
    lengths = np.append(np.diff(shared_resources.since), 1)
    lengths[-1] = max(data.horizon - int(shared_resources.since[-1]), 1)
    for p, most in enumerate(shared_resources.capacity.tolist()):
        tasks = [
            (start, run_time, amount)
            for start, run_time, amount in zip(
                starts, data.run_times.tolist(), shared_resources.draws[:, p].tolist(), strict=True
            )
            if amount and (put_off or not isinstance(start, int))
        ]
        missing = most - shared_resources.free[:, p]
        if sum(amount for _, _, amount in tasks) + int(missing.max()) <= most or not tasks:
            continue
        tasks += [
            (since, length, amount)
            for since, length, amount in zip(
                shared_resources.since.tolist(), lengths.tolist(), missing.tolist(), strict=True
            )
            if amount and since < data.horizon
        ]
        begin, durations, amounts = (list(column) for column in zip(*tasks, strict=True))
        constraints.append(cp.Cumulative(begin, durations, demand=amounts, capacity=most))
    return constraints


def disjunctions(data: ModelData, starts: Sequence[Variable]) -> list[Any]:
    """Return which jobs cannot run at the same time, as together they ask for more than there is.

    The thesis posts a disjunction for two jobs whose energies exceed what there is while the longer
    one runs: d(τᵢ) · Eᵢ + d(τⱼ) · Eⱼ > max(d(τᵢ), d(τⱼ)) · capᵣ, with E what all units of a job ask
    for (section 6.1). That implies Eᵢ + Eⱼ > capᵣ, for which it is posted here.

    Of a resource type, any two jobs that ask for more than half are disjunct; one that asks for
    less is disjunct from those of them that leave it too little.

    Parameters
    ----------
    data
        The model's data.
    starts
        The start variables, `[J]`; numbers where the start is fixed.
    """
    demands = data.demands
    groups: set[tuple[int, ...]] = set()
    for demand, total in zip(demands.T, data.totals.tolist(), strict=True):
        # Any two of them exceed the total, which one constraint can say of all together.
        large = np.flatnonzero(2 * demand > total)
        groups.add(tuple(large.tolist()))
        for i in np.flatnonzero(2 * demand <= total).tolist():
            beside = large[demand[large] + demand[i] > total]
            groups.add(tuple(sorted((i, *beside.tolist()))))
    # A pair within a larger group is disjunct already.
    known = {pair for group in groups if len(group) > 2 for pair in combinations(group, 2)}
    constraints: list[Any] = [
        cp.NoOverlap([starts[i] for i in group], [int(data.run_times[i]) for i in group])
        for group in sorted(groups)
        if len(group) > 2 or (len(group) == 2 and group not in known)
    ]
    allocated_until_then = data.allocated_together
    soonest = np.zeros(data.job_count, dtype=np.int64)
    allocated = np.zeros(data.type_count, dtype=np.int64)
    # From the last end back: at any time all that ends later is allocated.
    for end, amounts in reversed(allocated_until_then):
        allocated = allocated + amounts
        waits = (demands + allocated > data.totals).any(axis=1)
        soonest = np.where(waits, np.maximum(soonest, end), soonest)
    constraints += [
        start >= first for start, first in zip(starts, soonest.tolist(), strict=True) if first
    ]
    return constraints


def in_values(variable: Variable, values: Sequence[int]) -> list[Any]:
    """Return constraints that keep a variable to ascending values within its bounds.

    Parameters
    ----------
    variable
        The variable.
    values
        The values, ascending.
    """
    # Without a gap the bounds of the variable say it all.
    if values[-1] - values[0] + 1 == len(values):
        return []
    return [cp.Table([variable], [[value] for value in values])]
