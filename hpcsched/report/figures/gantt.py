"""Data of a Gantt chart: the rectangles of jobs on nodes in a window of time."""

from bisect import insort
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.results.outage_records import recorded_outages
from hpcsched.scenario.resolved import read_system
from hpcsched.system.node_outages import down_time
from hpcsched.system.system import System

LARGEST = 200_000
"""Largest number of rectangles; more could be neither drawn nor distinguished."""


class JobRectangle(NamedTuple):
    """Rectangle of a job on a node; separate shares of one node have a rectangle each.

    Attributes
    ----------
    job_id, node
        Numbers of the job and the node.
    begin, end
        Simulated seconds.
    low, high
        Bounds of the share of the node's capacity, from 0 to 1.
    """

    job_id: int
    node: int
    begin: int
    end: int
    low: float
    high: float


class NodeOutage(NamedTuple):
    """Outage of a node.

    Attributes
    ----------
    node
        Number of the node.
    begin, end
        Simulated seconds.
    """

    node: int
    begin: int
    end: int


class Window(NamedTuple):
    """Content of a Gantt chart.

    Attributes
    ----------
    begin, end
        Bounds of the window, in simulated seconds.
    system
        The system.
    rectangles
        Rectangles of jobs.
    nodes
        Nodes with capacity of the resource type, by ascending number.
    down
        Outages of these nodes.
    """

    begin: int
    end: int
    system: System
    rectangles: tuple[JobRectangle, ...]
    nodes: tuple[int, ...]
    down: tuple[NodeOutage, ...] = ()


def gantt_window(
    one: StudiedRun, resource: str | None, begin: int | None, end: int | None
) -> tuple[str, Window]:
    """Return the rectangles of the jobs in a window of time.

    Parameters
    ----------
    one
        The run.
    resource
        Resource type; None is the system's first.
    begin, end
        Bounds in simulated seconds; None is the first start or the last end.

    Returns
    -------
    tuple
        The resource type, and the window. A job gets the lowest free shares of a node: a run does
        not record which cores it had.

    Raises
    ------
    InputError
        There is no such resource type, the window is empty or has too many rectangles, or a file is
        damaged.
    """
    system = read_system(one.run.scenario_path)
    if resource is None:
        resource = system.resource_types[0]
    elif resource not in system.resource_types:
        there = ", ".join(system.resource_types)
        message = f"the system of {one.name} has no {resource!r}; there are: {there}"
        raise InputError(Finding("unknown-resource-type", message))
    first, last = _span(one)
    begin, end = first if begin is None else begin, last if end is None else end
    if begin >= end:
        message = f"the window of {one.name} is empty: it is from {begin} s to {end} s"
        raise InputError(Finding("empty-window", message))
    amounts = system.capacity[:, system.resource_types.index(resource)].tolist()
    nodes = tuple(node for node, amount in enumerate(amounts) if amount)
    found = _rectangles(one, amounts, resource, begin, end)
    down = tuple(there for there in _down(one, begin, end) if there.node in nodes)
    return resource, Window(begin, end, system, found, nodes, down)


def _down(one: StudiedRun, begin: int, end: int) -> Iterator[NodeOutage]:
    """Yield the outages of nodes in a window of time, clipped to it."""
    down = down_time(recorded_outages(one.run))
    for node, start, over in zip(*(column.tolist() for column in down), strict=True):
        if start < end and over > begin:
            yield NodeOutage(node, max(start, begin), min(over, end))


def _span(one: StudiedRun) -> tuple[int, int]:
    table = one.run.all_jobs.read("start_time", "end_time")
    return pc.min(table["start_time"]).as_py() or 0, pc.max(table["end_time"]).as_py() or 0


def _rectangles(
    one: StudiedRun, capacity: Sequence[int], resource: str, begin: int, end: int
) -> tuple[JobRectangle, ...]:
    jobs = _jobs_in_window(one, resource, begin, end)
    free: dict[int, list[tuple[int, int]]] = {}
    leaving: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []
    found = []
    for start, job_end, job_id, amount, nodes, node_units in jobs:
        # Ends come before starts of the same second: the node is free again.
        while leaving and leaving[0][0] <= start:
            _, node, shares = heappop(leaving)
            for share in shares:
                insort(free[node], share)
        for node, units in zip(nodes, node_units, strict=True):
            if not amount * units:
                continue
            shares = _take(free.setdefault(node, [(0, capacity[node])]), amount * units)
            heappush(leaving, (job_end, node, shares))
            for low, high in shares:
                scale = capacity[node]
                # Shares are taken from the whole job, so that a rectangle keeps its height as the
                # window moves; only its ends are clipped.
                visible = max(start, begin), min(job_end, end)
                found.append(JobRectangle(job_id, node, *visible, low / scale, high / scale))
        # Checked while collecting: a whole year of jobs must not fill the memory first.
        if len(found) > LARGEST:
            message = (
                f"more than {LARGEST:,} rectangles from {begin} s to {end} s: choose a shorter"
                " window with --from and --to"
            )
            raise InputError(Finding("window-too-large", message))
    return tuple(found)


_Placed = tuple[int, int, int, int, list[int], list[int]]


def _jobs_in_window(one: StudiedRun, resource: str, begin: int, end: int) -> list[_Placed]:
    """Return start, end, number, amount a unit, nodes and their units, by start and number."""
    found = []
    names = ("job_id", "start_time", "end_time", "nodes", "node_units", "unit_request")
    for part in one.run.jobs.parts(*names):
        inside = part.filter(
            pc.and_(pc.less(part["start_time"], end), pc.greater(part["end_time"], begin))
        )
        # Jobs that take no time hold nothing, and would have no width.
        inside = inside.filter(pc.greater(inside["end_time"], inside["start_time"]))
        for row in inside.to_pylist():
            amount = row["unit_request"][resource]
            places = (row["nodes"], row["node_units"])
            found.append((row["start_time"], row["end_time"], row["job_id"], amount, *places))
    # By start, then by number: equal runs give equal charts whatever the order of the file.
    return sorted(found)


def _take(free: list[tuple[int, int]], amount: int) -> tuple[tuple[int, int], ...]:
    """Take the lowest free shares and return them merged; the free ones ascend and may touch."""
    taken: list[tuple[int, int]] = []
    while amount > 0 and free:
        low, high = free.pop(0)
        if high - low > amount:
            free.insert(0, (low + amount, high))
            high = low + amount
        amount -= high - low
        # Shares that touch become one rectangle, without a line in the middle of a job.
        if taken and taken[-1][1] == low:
            taken[-1] = (taken[-1][0], high)
        else:
            taken.append((low, high))
    return tuple(taken)
