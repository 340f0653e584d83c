"""Preparation of schedule-or-postpone: its tables, from a model's data."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.cp.formulation import Formulation, dominations
from hpcsched.dispatching.cp.formulations.unit_positions import dominating_first
from hpcsched.dispatching.cp.postpone import search_tables
from hpcsched.dispatching.cp.postpone.search_tables import Problem
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.shared_resource_data import SharedResourceData
from hpcsched.system.system import IntArray


class Given(NamedTuple):
    """A problem, and the occupation of its nodes before the search.

    Attributes
    ----------
    boxes
        Node, resource type, first position, the one behind the last, and end of each box.
    order
        Numbers of the nodes in the model, `[N]`.
    """

    problem: Problem
    order: IntArray
    boxes: list[tuple[int, int, int, int, int]]


class _Task(NamedTuple):
    """Amounts taken of the shared resources, `[G]`, from `begin` to `end`."""

    begin: int
    end: int
    amounts: IntArray


def prepare(data: ModelData, formulation: Formulation, mode: int) -> Given:
    """Return the problem of the search, in which the formulation says of nodes what `mode` does."""
    fixed = formulation.fixed_starts(data)
    ordered = dominating_first in formulation.constraints
    jobs = np.flatnonzero(fixed < 0)
    nodes = np.arange(0 if mode == search_tables.AGGREGATED else data.node_count)
    if formulation.value == "largest" and mode == search_tables.POSITIONS:
        nodes = nodes[::-1].copy()  # and positions are counted from the end
    room = data.room_now if mode == search_tables.NOW else data.room
    room = np.ascontiguousarray(room[np.ix_(jobs, nodes)])
    shared = _shared(data, mode)
    times, used = _taken(data, shared, fixed)
    ends = [end for end, _ in data.allocated_together]
    allocated = _allocated(data, nodes, mode)
    closed = _closures(data, nodes, mode)
    # Only where less is taken can a job start that could not before.
    falls = np.r_[False, (np.diff(used, axis=0) < 0).any(axis=1)]
    events = {*ends, *times[falls].tolist(), *closed[2].tolist()}
    if mode == search_tables.NOW:
        events.add(1)  # from which on no job needs nodes
    demand, total = shared.draws[jobs], shared.total
    weights, run_times = data.weights[:, jobs], data.run_times[jobs]
    most = np.maximum.accumulate(total - used, axis=0)  # free so far, at most
    requests = np.ascontiguousarray(data.requests[jobs])
    # Running and queued jobs share the keys: nodes are alike whoever holds them.
    keys = np.unique(np.vstack((requests, allocated[2])), axis=0, return_inverse=True)[1].reshape(
        -1
    )
    problem = Problem(
        mode,
        mode in (search_tables.COUNTS, search_tables.POSITIONS),
        formulation.back_to_start,
        data.units[jobs],
        run_times,
        data.latest_starts[jobs],
        # Twins that dominate one another are in order already.
        np.full(len(jobs), -1) if ordered else _twins(data, jobs, demand),
        _before(data, ordered=ordered),
        requests,
        keys[: len(jobs)].astype(np.int64),
        room,
        np.ascontiguousarray(demand, dtype=np.int64),
        total,
        _by_energy(demand, run_times, weights),
        times,
        used,
        np.r_[False, (np.diff(used, axis=0) > 0).any(axis=1)].astype(np.int64),
        times[1:].copy(),
        np.ascontiguousarray(np.diff(most, axis=0)),
        np.ascontiguousarray(data.capacity[nodes]),
        _classes(room, data.capacity[nodes], closed),
        allocated[0],
        allocated[1],
        keys[len(jobs) :].astype(np.int64),
        allocated[2],
        *closed,
        np.array(sorted(events), dtype=np.int64),
        np.ascontiguousarray(weights),
        np.ascontiguousarray(data.free[:, jobs]),
        data.makespan,
        *_curves(data, jobs),
    )
    boxes = []
    if mode == search_tables.POSITIONS:
        boxes = _boxes(problem, data.horizon)
    return Given(problem, nodes, boxes)


class _Shared(NamedTuple):
    """The `G` cumulative resources: `types` of the nodes, and `shared_resources`.

    `draws`, `[J, G]`, is the jobs' demand of `total`, `[G]`; `put_off`, `[G]`, whether jobs with a
    fixed start use the resource.
    """

    draws: IntArray
    total: IntArray
    put_off: IntArray
    shared_resources: tuple[SharedResourceData, ...]
    types: int


def _shared(data: ModelData, mode: int) -> _Shared:
    """Return the cumulative resources: those of all nodes or of the system, and shared ones."""
    shared_resources = () if data.shared_resources is None else (data.shared_resources,)
    whole = data.aggregated_nodes if mode == search_tables.AGGREGATED else None
    types = data.type_count if whole is None else 0
    if whole is not None:
        shared_resources = (whole, *shared_resources)
    draws = [data.demands[:, :types], *(resource.draws for resource in shared_resources)]
    total = [data.totals[:types], *(resource.capacity for resource in shared_resources)]
    put_off = [
        np.ones(types),
        *(np.full(resource.shared_count, resource is whole) for resource in shared_resources),
    ]
    return _Shared(
        np.ascontiguousarray(np.hstack(draws), dtype=np.int64),
        np.concatenate(total).astype(np.int64),
        np.concatenate(put_off).astype(np.int64),
        shared_resources,
        types,
    )


def _taken(data: ModelData, shared: _Shared, fixed: IntArray) -> tuple[IntArray, IntArray]:
    """Return the steps at which the taken shared amounts change, `[F]`, and the amounts, `[F, G]`.

    They are taken by running jobs, closed nodes and jobs with a fixed start, or not offered by
    shared resources.
    """
    types = shared.types
    tasks = []
    if types:
        tasks = [_Task(0, end, amounts) for end, amounts in data.allocated_together]
        tasks += [_Task(*closed) for closed in data.closed_together]
    late = [
        _Task(int(fixed[j]), int(fixed[j] + data.run_times[j]), shared.draws[j] * shared.put_off)
        for j in np.flatnonzero(fixed >= 0)
    ]
    # Amounts change at these times alone, so that a step for each is enough.
    times = {0, *(time for task in (*tasks, *late) for time in (task.begin, task.end))}
    times.update(time for resource in shared.shared_resources for time in resource.since.tolist())
    at = np.array(sorted(times), dtype=np.int64)
    used = np.zeros((len(at), len(shared.total)), dtype=np.int64)
    for task in tasks:
        used[(task.begin <= at) & (at < task.end), :types] += task.amounts
    for task in late:
        used[(task.begin <= at) & (at < task.end)] += task.amounts
    first = types
    for resource in shared.shared_resources:
        of = np.searchsorted(resource.since, at, side="right") - 1
        used[:, first : first + resource.shared_count] += resource.capacity - resource.free[of]
        first += resource.shared_count
    return at, used


def _allocated(data: ModelData, nodes: IntArray, mode: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the amounts allocated to running jobs, merged by node and end, by end.

    Where only jobs that start now have nodes, nothing ends meanwhile.
    """
    merged: dict[tuple[int, int], IntArray] = {}
    place = {int(n): k for k, n in enumerate(nodes)}
    if mode in (search_tables.COUNTS, search_tables.POSITIONS):
        for end, n, amounts in zip(
            data.allocated_until.tolist(), data.allocated_on.tolist(), data.allocated, strict=True
        ):
            known = merged.get((end, place[n]))
            merged[end, place[n]] = amounts if known is None else known + amounts
    keys = sorted(merged)
    return (
        np.array([end for end, _ in keys], dtype=np.int64),
        np.array([n for _, n in keys], dtype=np.int64),
        np.array([merged[key] for key in keys], dtype=np.int64).reshape(-1, data.type_count),
    )


def _closures(data: ModelData, nodes: IntArray, mode: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return when nodes are closed, node by node, and where each begins; see `Problem`."""
    of: list[list[tuple[int, int]]] = [[] for _ in nodes]
    place = {int(n): k for k, n in enumerate(nodes)}
    if mode in (search_tables.COUNTS, search_tables.POSITIONS):
        for n, begin, end in data.closed:
            of[place[n]].append((begin, end))
    first = np.cumsum([0, *(len(times) for times in of)])
    flat = [time for times in of for time in times]
    begins = np.array([begin for begin, _ in flat], dtype=np.int64)
    return first.astype(np.int64), begins, np.array([end for _, end in flat], dtype=np.int64)


def _classes(
    room: IntArray, capacity: IntArray, closed: tuple[IntArray, IntArray, IntArray]
) -> IntArray:
    """Return a number for each node, equal where they offer the same to all jobs, `[N]`."""
    first, begins, ends = closed
    numbers: dict[tuple[object, ...], int] = {}
    classes = np.zeros(len(capacity), dtype=np.int64)
    for n in range(len(capacity)):
        times = slice(first[n], first[n + 1])
        what = (
            room[:, n].tobytes(),
            capacity[n].tobytes(),
            begins[times].tobytes(),
            ends[times].tobytes(),
        )
        classes[n] = numbers.setdefault(what, len(numbers))
    return classes


def _before(data: ModelData, *, ordered: bool) -> IntArray:
    """Return the jobs that dominate each, `[J, P]`; −1 where there are no more."""
    of: list[list[int]] = [[] for _ in range(data.job_count)]
    for i, j in dominations(data) if ordered else ():
        of[j].append(i)
    before = np.full((data.job_count, max(map(len, of), default=0)), -1, dtype=np.int64)
    for j, jobs in enumerate(of):
        before[j, : len(jobs)] = jobs
    return before


def _twins(data: ModelData, jobs: IntArray, demand: IntArray) -> IntArray:
    """Return of each job another that may as well start no later, or −1, `[J]`.

    They ask for the same, and the other one's cost grows at least as fast at any time: where it
    started later, they could change places.
    """
    twin = np.full(len(jobs), -1, dtype=np.int64)
    if data.curves is not None:
        return twin
    last: dict[tuple[object, ...], int] = {}
    weights, free = data.weights[:, jobs], data.free[:, jobs]
    # The dearest first: a job can only be the twin of one that was met before it.
    order = sorted(
        range(len(jobs)), key=lambda k: (*(-weights[:, k]).tolist(), *free[:, k].tolist(), k)
    )
    for k in order:
        j = jobs[k]
        what = (
            int(data.units[j]),
            int(data.run_times[j]),
            data.requests[j].tobytes(),
            data.room[j].tobytes(),
            demand[k].tobytes(),
        )
        other = last.get(what)
        if (
            other is not None
            and (weights[:, other] >= weights[:, k]).all()
            and (free[:, other] <= free[:, k]).all()
        ):
            twin[k] = other
        last[what] = k
    return twin


def _by_energy(demand: IntArray, run_times: IntArray, weights: IntArray) -> IntArray:
    """Return the jobs by weight over energy of each resource, largest first, `[G, J]`."""
    energy = np.maximum(demand * run_times[:, np.newaxis], 1)
    ratio = weights.sum(axis=0)[:, np.newaxis] / energy
    return np.ascontiguousarray(np.argsort(-ratio, axis=0, kind="stable").T.astype(np.int64))


def _curves(data: ModelData, jobs: IntArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return curves one after another; see `Problem`."""
    first, at, cost, slope = [0], [], [], []
    for j in jobs.tolist():
        if data.curves is not None:
            curve = data.curves[j]
            slopes = curve.slopes
            at += curve.at
            cost += curve.cost
            slope += [*slopes, slopes[-1] if slopes else 0]
        first.append(len(at))
    arrays = [np.array(values, dtype=np.int64) for values in (first, at, cost, slope)]
    return arrays[0], arrays[1], arrays[2], arrays[3]


def _boxes(problem: Problem, horizon: int) -> list[tuple[int, int, int, int, int]]:
    """Return the positions that running jobs hold on each node, the latest end lowest."""
    boxes = []
    at = np.zeros(problem.capacity.shape, dtype=np.int64)
    # The latest end first, hence lowest: what is free of a node then is in one piece.
    for k in range(len(problem.allocated_until) - 1, -1, -1):
        n = int(problem.allocated_on[k])
        for r, amount in enumerate(problem.allocated[k].tolist()):
            if amount:
                low = int(at[n, r])
                end = min(int(problem.allocated_until[k]), horizon)
                boxes.append((n, r, low, low + amount, end))
                at[n, r] += amount
    return boxes
