"""Problem of schedule-or-postpone: a model's data, as `PostponeSearch` takes it."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched._core import PostponeMode, PostponeSearch
from hpcsched.dispatching.cp.formulation import Formulation, dominations
from hpcsched.dispatching.cp.formulations.unit_positions import dominating_first
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.system.system import IntArray


class _Task(NamedTuple):
    """Amounts taken of the cumulative resources, `[G]`, from `begin` to `end`."""

    begin: int
    end: int
    amounts: IntArray


class Cumulatives(NamedTuple):
    """The `G` cumulative resources: of the nodes together, and shared ones.

    Attributes
    ----------
    demands
        Demand of each job, `[J, G]`.
    total
        Their capacity, `[G]`.
    used_at, used
        Amounts that others than the jobs to be planned use from each step on, ascending from 0,
        `[F]`, `[F, G]`: running jobs, closed nodes and jobs with a fixed start; or that shared
        resources do not offer.
    """

    demands: IntArray
    total: IntArray
    used_at: IntArray
    used: IntArray


def cumulatives(data: ModelData, mode: PostponeMode, fixed: IntArray) -> Cumulatives:
    """Return the cumulative resources of a model in a mode of the search.

    Parameters
    ----------
    data
        The model's data.
    mode
        The mode: where plans name no nodes, they may be those of the whole system.
    fixed
        Fixed starts of jobs, -1 for jobs with a free start, `[J]`.
    """
    shared = () if data.shared_resources is None else (data.shared_resources,)
    whole = data.aggregated_nodes if mode is PostponeMode.AGGREGATED else None
    types = data.type_count if whole is None else 0
    if whole is not None:
        shared = (whole, *shared)
    demands = np.hstack([data.demands[:, :types], *(resource.draws for resource in shared)])
    total = np.concatenate([data.totals[:types], *(resource.capacity for resource in shared)])
    # Jobs with a fixed start use nodes, but no shared resources.
    put_off = [resource is whole for resource in shared for _ in range(resource.shared_count)]
    late = demands * np.array([True] * types + put_off, dtype=np.int64)
    used_at, used = _used(data, shared, types, fixed, late)
    return Cumulatives(
        np.ascontiguousarray(demands, dtype=np.int64), total.astype(np.int64), used_at, used
    )


def _used(
    data: ModelData,
    shared: Sequence[SharedResourceData],
    types: int,
    fixed: IntArray,
    late_demands: IntArray,
) -> tuple[IntArray, IntArray]:
    tasks = []
    if types:
        tasks = [_Task(0, end, amounts) for end, amounts in data.allocated_together]
        tasks += [_Task(*closed) for closed in data.closed_together]
    late = [
        _Task(int(fixed[j]), int(fixed[j] + data.run_times[j]), late_demands[j])
        for j in np.flatnonzero(fixed >= 0)
    ]
    # Amounts change at these times alone, so that a step for each is enough.
    times = {0, *(time for task in (*tasks, *late) for time in (task.begin, task.end))}
    times.update(time for resource in shared for time in resource.since.tolist())
    at = np.array(sorted(times), dtype=np.int64)
    used = np.zeros((len(at), late_demands.shape[1]), dtype=np.int64)
    for task in tasks:
        used[(task.begin <= at) & (at < task.end), :types] += task.amounts
    for task in late:
        used[(task.begin <= at) & (at < task.end)] += task.amounts
    first = types
    for resource in shared:
        of = np.searchsorted(resource.since, at, side="right") - 1
        used[:, first : first + resource.shared_count] += resource.capacity - resource.free[of]
        first += resource.shared_count
    return at, used


def open_search(
    data: ModelData,
    formulation: Formulation,
    mode: PostponeMode,
    shared: Cumulatives,
    order: Sequence[int],
) -> PostponeSearch:
    """Return a search at the root of its tree.

    Parameters
    ----------
    data, formulation, mode, shared
        The model's data, its formulation, the mode for that, and the cumulative resources.
    order
        Numbers of the jobs with a free start in the order of decisions, counted among them.
    """
    jobs = np.flatnonzero(formulation.fixed_starts(data) < 0)
    now = mode is PostponeMode.NOW
    curves = data.curves or ()
    ordered = dominating_first in formulation.constraints
    return PostponeSearch(
        mode=mode,
        back_to_start=formulation.back_to_start,
        # Positions are counted from the end.
        last_node_first=formulation.value == "largest" and mode is PostponeMode.POSITIONS,
        order=order,
        units=data.units[jobs],
        run_times=data.run_times[jobs],
        latest_starts=data.latest_starts[jobs],
        requests=data.requests[jobs],
        idle_room=data.room[jobs],
        room=(data.room_now if now else data.room)[jobs],
        capacity=data.capacity,
        free=data.available if now else data.not_allocated,
        closed=data.closed,
        held_until=data.allocated_until,
        held_on=data.allocated_on,
        held=data.allocated,
        total=shared.total,
        demands=shared.demands[jobs],
        used_at=shared.used_at,
        used=shared.used,
        weights=data.weights[:, jobs],
        free_until=data.free[:, jobs],
        makespan=data.makespan,
        curves=[(curves[j].at, curves[j].cost, curves[j].slopes) for j in jobs if curves],
        horizon=data.horizon,
        dominations=dominations(data) if ordered else None,
    )
