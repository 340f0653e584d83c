"""Tiny data of models, and their optimum by trying everything, to check formulations by.

Nothing is shared with what makes plans or models.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from hpcsched.dispatching.planning.model_data import (
    ModelData,
    OutageInterval,
    horizon_after_outages,
    outage_data,
)
from hpcsched.dispatching.planning.start_time_costs import StartCostFunction

Counts = tuple[int, ...]
"""Units of a job on each node."""


class Size(NamedTuple):
    """At most so many."""

    jobs: int = 4
    nodes: int = 3
    types: int = 2
    units: int = 3
    run_time: int = 4
    capacity: int = 4


SMALL = Size()
SMALLEST = Size(jobs=2, nodes=2, types=2, units=2, run_time=2, capacity=3)


@st.composite
def tiny_data(draw, size: Size = SMALL) -> ModelData:
    """Draw data of which every job fits on idle nodes."""
    nodes = draw(st.integers(1, size.nodes))
    types = draw(st.integers(1, size.types))
    jobs = draw(st.integers(1, size.jobs))
    one_kind = draw(st.booleans())
    amounts = st.lists(st.integers(0, size.capacity), min_size=types, max_size=types)
    first = draw(amounts.filter(any))
    capacity = [first if one_kind else draw(amounts) for _ in range(nodes)]
    capacity[0] = first
    units, requests, rooms = [], [], []
    for _ in range(jobs):
        # It fits on node `home`, so that some node has room.
        home = draw(st.sampled_from([n for n in range(nodes) if any(capacity[n])]))
        request = draw(
            st.tuples(*(st.integers(0, most) for most in capacity[home])).filter(any),
        )
        forbidden = draw(st.sets(st.integers(0, nodes - 1), max_size=nodes - 1)) - {home}
        room = [
            0
            if n in forbidden
            else min(capacity[n][r] // request[r] for r in range(types) if request[r])
            for n in range(nodes)
        ]
        if draw(st.sampled_from([False, False, True])):  # one unit per node
            room = [min(most, 1) for most in room]
        units.append(draw(st.integers(1, min(size.units, sum(room)))))
        requests.append(request)
        rooms.append(room)
    allocated = []
    free = [list(row) for row in capacity]
    for _ in range(draw(st.integers(0, 3))):
        n = draw(st.integers(0, nodes - 1))
        amount = [draw(st.integers(0, most)) for most in free[n]]
        if any(amount):
            allocated.append((draw(st.integers(1, size.run_time)), n, amount))
            free[n] = [most - taken for most, taken in zip(free[n], amount, strict=True)]
    allocated.sort(key=lambda one: one[0])
    run_times = draw(st.lists(st.integers(1, size.run_time), min_size=jobs, max_size=jobs))
    objective = draw(st.sampled_from(["unit", "slowdown", "free", "terms", "makespan"]))
    weights, late, makespan = [[1] * jobs], [[0] * jobs], 0
    if objective == "slowdown":
        weights = [[12 // run_time for run_time in run_times]]
    elif objective in ("free", "terms"):
        terms = 1 if objective == "free" else 2
        weights, late = (
            [
                draw(st.lists(st.integers(0, most), min_size=jobs, max_size=jobs))
                for _ in range(terms)
            ]
            for most in (5, 4)
        )
    elif objective == "makespan":
        makespan = draw(st.integers(1, 3))
        weights, late = ([], []) if draw(st.booleans()) else (weights, late)
    return ModelData(
        np.array(units, dtype=np.int64),
        np.array(requests, dtype=np.int64),
        np.array(run_times, dtype=np.int64),
        np.array(capacity, dtype=np.int64),
        np.array(rooms, dtype=np.int64),
        np.array([end for end, _, _ in allocated], dtype=np.int64),
        np.array([n for _, n, _ in allocated], dtype=np.int64),
        np.array([amount for _, _, amount in allocated], dtype=np.int64).reshape(-1, types),
        np.array(weights, dtype=np.int64).reshape(-1, jobs),
        np.array(late, dtype=np.int64).reshape(-1, jobs),
        makespan,
        max((end for end, _, _ in allocated), default=0) + sum(run_times),
    )


@st.composite
def with_outages(draw, size: Size = SMALL) -> ModelData:
    """Draw tiny data whose nodes are closed once or twice, some of them now."""
    data = draw(tiny_data(size))
    nodes = st.sets(st.integers(0, data.node_count - 1), min_size=1)
    times = st.tuples(st.integers(0, 5), st.integers(1, 3), nodes)
    outage_intervals = [
        OutageInterval(begin, begin + length, np.array(sorted(of), dtype=np.int64))
        for begin, length, of in draw(st.lists(times, min_size=1, max_size=2))
    ]
    outage_intervals.sort(key=lambda interval: interval.begin)
    # A job that still runs when its node is closed holds it up to then.
    until = data.allocated_until.copy()
    for begin, _, of in outage_intervals:
        until[np.isin(data.allocated_on, of)] = np.minimum(
            until[np.isin(data.allocated_on, of)], begin
        )
    kept = [k for k in until.argsort(kind="stable") if until[k] > 0]
    serial = int(data.run_times.sum())
    horizon = horizon_after_outages(outage_intervals, int(until.max(initial=0)) + serial, serial)
    return replace(
        data,
        allocated_until=until[kept],
        allocated_on=data.allocated_on[kept],
        allocated=data.allocated[kept],
        horizon=horizon,
        outages=outage_data(outage_intervals, horizon),
    )


def placements(data: ModelData, job: int) -> Iterator[Counts]:
    """Yield every way to spread a job's units over the nodes."""
    most = [min(int(room), int(data.units[job])) for room in data.room[job]]
    for counts in product(*(range(count + 1) for count in most)):
        if sum(counts) == data.units[job]:
            yield counts


class _Calendar:
    """What is free of each node and resource type at each time."""

    def __init__(self, data: ModelData) -> None:
        self._requests = data.requests.tolist()
        self._run_times = data.run_times.tolist()
        last = int(data.allocated_until.max(initial=0))
        if data.outages is not None:
            last = max(last, int(data.outages.ends.max()))
        length = last + int(data.run_times.sum())
        self.free = [[list(row) for row in data.capacity.tolist()] for _ in range(length)]
        for end, n, amounts in zip(
            data.allocated_until.tolist(),
            data.allocated_on.tolist(),
            data.allocated.tolist(),
            strict=True,
        ):
            for time in range(end):
                for r, amount in enumerate(amounts):
                    self.free[time][n][r] -= amount
        for n, begin, end in zip(*(data.outages or ()), strict=True):
            for time in range(int(begin), int(end)):
                self.free[time][int(n)] = [0] * data.type_count

    def has_room(self, job: int, counts: Counts, start: int) -> bool:
        return all(
            here[n][r] >= count * asked
            for here in self.free[start : start + self._run_times[job]]
            for n, count in enumerate(counts)
            if count
            for r, asked in enumerate(self._requests[job])
        )

    def take(self, job: int, counts: Counts, start: int, sign: int = 1) -> None:
        for here in self.free[start : start + self._run_times[job]]:
            for n, count in enumerate(counts):
                for r, asked in enumerate(self._requests[job]):
                    here[n][r] -= sign * count * asked


def cost_by_start(data: ModelData, job: int, start: int) -> int:
    """Return what a job's terms, and its curve, cost where it starts then."""
    cost = sum(
        weight * max(start, free)
        for weight, free in zip(
            data.weights[:, job].tolist(), data.free[:, job].tolist(), strict=True
        )
    )
    if data.curves is None:
        return cost
    at, values = data.curves[job]
    return cost + round(float(np.interp(start, at, values)))


def optimum(data: ModelData) -> int:
    """Return what the best plan costs where no job gets cheaper by waiting.

    For given nodes some best plan has each job, in some order, at its earliest start beside those
    before it, as nothing gets better by starting later. All orders and nodes are tried; what has
    come to cost as much as the best plan is broken off, as more jobs do not make it less.
    """
    calendar = _Calendar(data)
    ways = [list(placements(data, job)) for job in range(data.job_count)]
    run_times = data.run_times.tolist()
    best = [10**9]

    def go_on(left: frozenset[int], cost: int, last: int, least: int) -> None:
        if cost + data.makespan * last + least >= best[0]:
            return
        if not left:
            best[0] = cost + data.makespan * last
        for job in sorted(left):
            tried: set[tuple[int, Counts]] = set()
            for counts in ways[job]:
                start = 0
                while not calendar.has_room(job, counts, start):
                    start += 1
                tried.add((start, counts))
            for start, counts in sorted(tried):
                calendar.take(job, counts, start)
                go_on(
                    left - {job},
                    cost + cost_by_start(data, job, start),
                    max(last, start + run_times[job]),
                    least - cost_by_start(data, job, 0),
                )
                calendar.take(job, counts, start, -1)

    jobs = frozenset(range(data.job_count))
    go_on(jobs, 0, 0, sum(cost_by_start(data, job, 0) for job in jobs))
    return best[0]


def optimum_by_all_starts(data: ModelData) -> int:
    """Return what the best plan costs, by trying every start up to the horizon, on all nodes."""
    best = None
    spans = [range(data.horizon - int(run_time) + 1) for run_time in data.run_times]
    for starts in product(*spans):
        cost = data.makespan * max(s + int(d) for s, d in zip(starts, data.run_times, strict=True))
        cost += sum(cost_by_start(data, job, start) for job, start in enumerate(starts))
        if best is not None and cost >= best:
            continue
        for ways in product(*(placements(data, job) for job in range(data.job_count))):
            calendar = _Calendar(data)
            good = True
            for job, (start, counts) in enumerate(zip(starts, ways, strict=True)):
                good = good and calendar.has_room(job, counts, start)
                if good:
                    calendar.take(job, counts, start)
            if good:
                best = cost
                break
    assert best is not None
    return best


@st.composite
def with_curves(draw, size: Size = SMALL) -> ModelData:
    """Draw tiny data whose jobs also cost by curves that may fall and rise as they like."""
    data = draw(tiny_data(size))
    made = []
    for latest in data.latest_starts.tolist():
        slopes = draw(st.lists(st.integers(-3, 4), min_size=latest, max_size=latest))
        at, cost = tuple(range(latest + 1)), np.cumsum([0, *slopes])
        made.append(StartCostFunction(at, tuple(cost.tolist())))
    return replace(data, curves=tuple(made))
