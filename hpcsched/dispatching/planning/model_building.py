"""Model building: the jobs, nodes and units of a dispatching problem become the data of a model.

What does not matter is left out before anything is modelled (Galleguillos, thesis 2020, section
5.1): jobs that cannot start now, if so wished; jobs beyond the first `m` by priority; resource
types that no job asks for; nodes beyond those that are free soonest.

Aggregated nodes are all nodes as one resource of each type, as in HCP'19: Tcapᵣ = Σₙ capₙᵣ. All
count, also those that no planned job fits on, and the remainders of several nodes are added up
(Galleguillos, thesis 2020, section 2.3; Galleguillos et al., CP 2021, section 2.2).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.planned_cost import CostOf, linear, run_times
from hpcsched.dispatching.planning.model_data import (
    ModelData,
    OutageInterval,
    horizon_after_outages,
    outage_data,
    outage_intervals_of,
    single_outages,
)
from hpcsched.dispatching.planning.node_choice import (
    Counted,
    FitCounts,
    Releases,
    chosen_nodes,
    ends_of,
    equal_units,
    releases_of,
)
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.planning.shared_resource_data import (
    SharedResourceData,
    can_be_planned,
    in_common_units,
    shared_resource_data,
)
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_calls import open_workspace
from hpcsched.system.system import IntArray, System

BoolArray = npt.NDArray[np.bool_]

Unfinished = tuple[Selection, int, SharedResourceData | None]
"""A selection without horizon and cost; the sum of the remaining run times of running jobs, in
seconds; the aggregated nodes, if models have them."""

_ALWAYS = 1 << 62
"""A horizon before which every interval begins."""


def select(
    problem: DispatchingProblem,
    by_priority: Sequence[WaitingJob],
    options: SelectionOptions,
    cost_of: CostOf,
) -> Selection | None:
    """Return the selection to model; None where no job can start now."""
    if problem.free_units is None:
        found = _on_nodes(problem, by_priority, options)
    else:
        counted = equal_units(problem, overdue=options.overdue)
        found = _counted(problem.system, by_priority, options, counted)
    return None if found is None else _finished(problem, options, cost_of, found)


def _counted(
    system: System, by_priority: Sequence[WaitingJob], options: SelectionOptions, counted: Counted
) -> Unfinished | None:
    """Select where all units are alike: one node has room for all of them."""
    total = counted.total
    pooled = total
    if options.aggregated:  # all nodes together are enough for so many
        asked = zip(system.capacity.sum(axis=0).tolist(), by_priority[0].unit_request, strict=True)
        pooled = min(amount // of_unit for amount, of_unit in asked if of_unit)
    free = counted.free + (pooled - total if options.jobs == "pool" else 0)
    fitting = [job for job in by_priority if job.units <= free]
    if not fitting:
        return None
    # One node holds all units; `free` of them are free now, running jobs have the others.
    ends = np.array([end for end, _ in counted.allocated], dtype=np.int64)
    amounts = np.array([[units] for _, units in counted.allocated], dtype=np.int64).reshape(-1, 1)
    until, first = np.unique(ends, return_index=True)
    merged = np.add.reduceat(amounts, first, axis=0) if len(first) else amounts
    jobs = tuple((by_priority if options.jobs == "all" else fitting)[: options.length])
    ones = np.ones((len(jobs), 1), dtype=np.int64)
    room, capacity, on = total * ones, np.array([[total]]), np.zeros_like(until)
    selection = _unfinished(jobs, options, None, ones, capacity, room, until, on, merged)
    pool = None
    if pooled > total:
        none, last = np.zeros_like(selection.data.units), int(until.max(initial=0))
        units = selection.data.units[:, np.newaxis]
        pool = SharedResourceData(
            units, *_free(np.array([[pooled]]), until, merged, ()), none, last
        )
    return selection, counted.remaining, pool


def _on_nodes(
    problem: DispatchingProblem, by_priority: Sequence[WaitingJob], options: SelectionOptions
) -> Unfinished | None:
    """Select jobs and nodes."""
    system, now = problem.system, problem.now
    fit_counts = FitCounts(problem)
    by_priority = [
        job
        for job in can_be_planned(problem, by_priority)
        if fit_counts.idle(job).sum() >= job.units
    ]
    if options.jobs == "pool":
        free = problem.free_amounts.sum(axis=1)
        fitting = [
            job for job in by_priority if (job.units * np.array(job.unit_request) <= free).all()
        ]
    else:
        fitting = [job for job in by_priority if fit_counts.units_now(job) >= job.units]
    if system.shared_resources:
        workspace = open_workspace(problem, FirstFit())
        fitting = [job for job in fitting if not workspace.lacking(job)]
    if not fitting:
        return None
    jobs = tuple((by_priority if options.jobs == "all" else fitting)[: options.length])
    ends = ends_of(problem, overdue=options.overdue)
    releases = releases_of(system, ends)
    alone = np.array([job.request.exclusive for job in jobs], dtype=np.bool_)
    few = len(problem.queue) * system.node_count <= options.few
    nodes = chosen_nodes(
        jobs, fit_counts, releases, now, None if few or alone.any() else options.spare_nodes
    )
    intervals = outage_intervals_of(problem, nodes, everywhere=options.aggregated)
    asked = np.array([job.unit_request for job in jobs], dtype=np.int64)
    # A job that is alone on its nodes minds everything that runs there.
    used = np.flatnonzero(asked.any(axis=0) | alone.any())
    held = reserved_amounts(nodes, used, releases, now, intervals)
    room = np.array([fit_counts.idle(job)[nodes] for job in jobs], dtype=np.int64)
    capacity = system.capacity[nodes][:, used]
    selection = _unfinished(jobs, options, nodes, asked[:, used], capacity, room, *held)
    selection = selection._replace(outage_intervals=intervals)
    if alone.any():
        selection = with_whole_nodes(selection, alone)
    if not selection.jobs:
        return None
    pool = None
    if options.aggregated:
        pool = aggregated_nodes(problem, selection.data, used, releases)
    # Node shares count whole nodes: dividing amounts would make them disagree with capacities.
    if not alone.any():
        selection = selection._replace(data=scaled(selection.data))
    return selection, sum(end - now for end, _ in ends), pool


def _unfinished(
    jobs: tuple[WaitingJob, ...],
    options: SelectionOptions,
    nodes: IntArray | None,
    *arrays: IntArray,
) -> Selection:
    """Return a selection without cost, horizon and shared resources.

    `arrays` are `requests`, `capacity`, `room` and what is allocated, as in `ModelData`.
    """
    none = np.zeros((0, len(jobs)), dtype=np.int64)
    units = np.array([job.units for job in jobs], dtype=np.int64)
    requests, *others = arrays
    capacity, room, until, on, held = others
    times = run_times(jobs)
    data = ModelData(units, requests, times, capacity, room, until, on, held, none, none, 0, 0)
    cost = linear(np.zeros(len(jobs)))
    return Selection(data, jobs, nodes, (0,) * len(jobs), cost, options.largest)


def _finished(
    problem: DispatchingProblem,
    options: SelectionOptions,
    cost_of: CostOf,
    found: Unfinished,
) -> Selection:
    """Return a selection with its horizon, the data that depend on it, and its cost."""
    selection, remaining, aggregated = found
    data, jobs, intervals = selection.data, selection.jobs, selection.outage_intervals
    # The worst case: all running jobs end one after another, as in the papers' models.
    last = remaining
    if not options.worst_case:
        elsewhere = 0 if aggregated is None else aggregated.last
        last = int(data.allocated_until.max(initial=elsewhere))
    serial = int(data.run_times.sum())
    shared_resources = shared_resource_data(problem, jobs, last)
    if shared_resources is not None:
        last = max(last, shared_resources.last)
        serial += int(shared_resources.allowance.sum())
    horizon = horizon_after_outages(intervals, last + serial, serial)
    # Shared resources have to be known as far as plans may reach.
    if shared_resources is not None and horizon > last + serial:
        shared_resources = shared_resource_data(problem, jobs, horizon - serial)
    data = replace(
        data,
        horizon=horizon,
        shared_resources=shared_resources,
        outages=outage_data(intervals, horizon),
        aggregated_nodes=aggregated,
    )
    finished = selection._replace(data=data, cost=cost_of(jobs, problem.now))
    return finished.repriced(finished.cost, curves=options.curves)


def reserved_amounts(
    nodes: IntArray,
    used: IntArray,
    releases: Releases,
    now: int,
    outage_intervals: Sequence[OutageInterval],
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the amounts that running jobs hold, by end and node; equal ends on a node are merged.

    They are `allocated_until`, `allocated_on` and `allocated` of `ModelData`.

    A job that still runs when its node goes down holds it until then: the job will be lost.
    """
    column = np.full(int(nodes.max(initial=0)) + 1, -1, dtype=np.int64)
    column[nodes] = np.arange(len(nodes))
    known = releases.nodes < len(column)
    kept = known.nonzero()[0]
    kept = kept[column[releases.nodes[kept]] >= 0]
    on, until = column[releases.nodes[kept]], releases.times[kept] - now
    amounts = releases.amounts[kept][:, used]
    some = amounts.any(axis=1)
    if outage_intervals:
        until = np.minimum(until, single_outages(outage_intervals).first_begins(len(nodes))[on])
        some &= until > 0
    on, until, amounts = on[some], until[some], amounts[some]
    # By end first: compiled code and models expect ascending ends.
    order = np.lexsort((on, until))
    on, until, amounts = on[order], until[order], amounts[order]
    if not len(on):
        return until, on, amounts
    first = np.concatenate(([True], (on[1:] != on[:-1]) | (until[1:] != until[:-1]))).nonzero()[0]
    return until[first], on[first], np.add.reduceat(amounts, first, axis=0)


def scaled(data: ModelData) -> ModelData:
    """Divide all amounts by the greatest common divisor of the requests, by resource type.

    Free amounts are rounded down, at each time; nothing is lost, as no request can use the
    remainder.
    """
    common = np.gcd.reduce(data.requests, axis=0)
    if (common == 1).all():
        return data
    on, amounts = data.allocated_on, data.allocated
    by_node = on.argsort(kind="stable")
    allocated_on = amounts[by_node]
    first = np.diff(on[by_node], prepend=-1) > 0
    before = allocated_on.cumsum(axis=0) - allocated_on
    # The running sum goes over all nodes; what came before a node's first entry is taken off.
    before -= before[first][first.cumsum() - 1]  # of the same node
    free = data.not_allocated[on[by_node]] + before
    rounded = np.empty_like(amounts)
    # Rounding the free amount at each time, not each release: rounded releases would not add up.
    rounded[by_node] = (free + allocated_on) // common - free // common
    some = rounded.any(axis=1)
    return replace(
        data,
        requests=data.requests // common,
        capacity=data.capacity // common,
        allocated_until=data.allocated_until[some],
        allocated_on=on[some],
        allocated=rounded[some],
    )


def with_whole_nodes(selection: Selection, alone: BoolArray) -> Selection:
    """Add the resource type `node share`, so that an exclusive job takes all shares of its nodes.

    Any other unit takes one share. A node has as many shares as units could ever be on it at once.
    The units of an exclusive job are bundled: as many on each node as leave it enough nodes. A job
    without a suitable bundle size is left out. `alone` says which jobs are exclusive, `[J]`.
    """
    data = selection.data
    shares = int(data.capacity.sum(axis=1).max(initial=1))
    units, room, bundles = data.units.copy(), data.room.copy(), np.zeros_like(data.units)
    kept = np.ones(len(units), dtype=np.bool_)
    for i in np.flatnonzero(alone):
        sizes = [n for n in np.unique(room[i]) if n and (room[i] >= n).sum() * n >= units[i]]
        if not sizes:
            kept[i] = False
            continue
        bundles[i] = min(sizes[0], units[i])
        units[i] = -(-units[i] // bundles[i])
        room[i] = room[i] >= bundles[i]
    # A running job's unit holds at least one of any amount, so the sum bounds its shares from
    # above.
    held = np.minimum(data.allocated.sum(axis=1), shares)
    data = replace(
        data,
        units=units[kept],
        requests=np.column_stack((data.requests, np.where(alone, shares, 1)))[kept],
        run_times=data.run_times[kept],
        capacity=np.column_stack((data.capacity, np.full(data.node_count, shares))),
        room=room[kept],
        allocated=np.column_stack((data.allocated, held)),
        weights=data.weights[:, kept],
        free=data.free[:, kept],
        releases=data.releases[kept],
    )
    jobs = tuple(job for job, keep in zip(selection.jobs, kept, strict=True) if keep)
    return selection._replace(data=data, jobs=jobs, bundles=tuple(bundles[kept].tolist()))


def aggregated_nodes(
    problem: DispatchingProblem, data: ModelData, used: IntArray, releases: Releases
) -> SharedResourceData:
    """Return the free amounts of all nodes together, by time, and the jobs' demands.

    Parameters
    ----------
    data
        The jobs, with a unit's amounts as requested. One resource type beyond `used` is the node
        share (see `with_whole_nodes`).
    """
    system = problem.system
    nodes = np.arange(system.node_count)
    outage_intervals = outage_intervals_of(problem, nodes)
    until, on, allocated = reserved_amounts(nodes, used, releases, problem.now, outage_intervals)
    capacity = system.capacity[:, used]
    if data.type_count > len(used):
        shares = np.maximum(capacity.sum(axis=1), data.capacity[:, -1].max(initial=1))
        allocated = np.column_stack((allocated, np.minimum(allocated.sum(axis=1), shares[on])))
        capacity = np.column_stack((capacity, shares))
    none, last = np.zeros(data.job_count, dtype=np.int64), int(until.max(initial=0))
    changes = _free(capacity, until, allocated, outage_intervals)
    return in_common_units(SharedResourceData(data.demands, *changes, none, last))


def _free(
    capacity: IntArray,
    until: IntArray,
    allocated: IntArray,
    outage_intervals: Sequence[OutageInterval],
) -> tuple[IntArray, IntArray]:
    """Return the times at which the free amounts change, `[T]`, and the amounts, `[T, R]`."""
    changes = [(np.zeros(1, dtype=np.int64), capacity.sum(axis=0)[np.newaxis])]
    changes += [(np.zeros(len(allocated), dtype=np.int64), -allocated), (until, allocated)]
    outages = outage_data(outage_intervals, _ALWAYS)
    if outages is not None:
        closed = capacity[outages.nodes]
        changes += [(outages.begins, -closed), (outages.ends, closed)]
    times = np.concatenate([at for at, _ in changes])
    since, of = np.unique(times, return_inverse=True)
    free = np.zeros((len(since), capacity.shape[1]), dtype=np.int64)
    np.add.at(free, of.reshape(-1), np.concatenate([amounts for _, amounts in changes]))
    return since, free.cumsum(axis=0)
