"""Data of a Gantt chart: rectangles of jobs on nodes in a window of time."""

from bisect import insort
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.report.run_series import checked_resource
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.runs.outage_records import recorded_outages
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import System
from hpcsched.workload.trace_calendar import simulated_second

LARGEST = 20_000
"""Largest number of rectangles; more could not be told apart."""

Time = int | str
"""A time as `simulated_second` takes it."""


class JobAbout(NamedTuple):
    """Attributes of a job in a Gantt chart.

    Attributes
    ----------
    user
        Number of the user; None if the trace has none.
    area
        Amount of the resource type times seconds within the window.
    """

    user: int | None
    nodes: int
    area: int


class JobRectangle(NamedTuple):
    """Rectangle of a job on a node, or on neighbouring nodes of a group that it fills.

    Separate shares of one node have a rectangle each.

    Attributes
    ----------
    begin, end
        Simulated seconds.
    low, high
        Bounds of the share of the node's capacity, from 0 to 1; 0 and *n* for *n* whole nodes.
    """

    job_id: int
    node: int
    begin: int
    end: int
    low: float
    high: float


class NodeOutage(NamedTuple):
    """Outage of a node, in simulated seconds."""

    node: int
    begin: int
    end: int


class Window(NamedTuple):
    """A run's jobs on the nodes that have a resource type, in a window of time.

    Attributes
    ----------
    begin, end
        Bounds of the window, in simulated seconds.
    nodes
        Nodes with capacity of the resource type, by ascending number.
    jobs
        Attributes of the jobs, by number.
    """

    run: StudiedRun
    resource: str
    begin: int
    end: int
    system: System
    rectangles: tuple[JobRectangle, ...]
    nodes: tuple[int, ...]
    down: tuple[NodeOutage, ...]
    jobs: Mapping[int, JobAbout]


def gantt_windows(
    runs: Sequence[StudiedRun],
    resource: str | None,
    begin: Time | None,
    end: Time | None,
) -> Iterator[Window]:
    """Yield the window of each run.

    Parameters
    ----------
    resource
        Resource type; None is the system's first.
    begin, end
        Bounds; None is the first start or the last end of all runs of the trace.
    """
    spans = [(one.group, *_span(one)) for one in runs]
    for one in runs:
        starts, ends = zip(*(span for group, *span in spans if group == one.group), strict=True)
        since = min(starts) if begin is None else _second(one, begin)
        until = max(ends) if end is None else _second(one, end)
        system = read_system(one.run.scenario_path)
        wanted = resource or system.resource_types[0]
        yield _window(one, system, checked_resource(one, system, wanted), since, until)


def _second(one: StudiedRun, given: Time) -> int:
    return simulated_second(given, one.run.calendar, one.run.first_submit_time)


def _span(one: StudiedRun) -> tuple[int, int]:
    table = one.run.all_jobs.read("start_time", "end_time")
    return pc.min(table["start_time"]).as_py() or 0, pc.max(table["end_time"]).as_py() or 0


def _window(one: StudiedRun, system: System, resource: str, begin: int, end: int) -> Window:
    amounts = system.capacity[:, system.resource_types.index(resource)].tolist()
    placed = _jobs_in_window(one, resource, begin, end)
    found = _rectangles(placed, amounts, system.group_of.tolist(), begin, end)
    down = tuple(
        NodeOutage(node, max(start, begin), min(over, end))
        for node, start, over in zip(
            *(column.tolist() for column in down_time(recorded_outages(one.run))), strict=True
        )
        if amounts[node] and start < end and over > begin
    )
    # Axes without any data have no size.
    if begin >= end or not (found or down):
        instant, (first, last) = one.run.calendar.instant, _span(one)
        message = (
            f"no job of {one.name} has {resource} from {instant(begin)} to {instant(end)}; its jobs"
            f" run from {instant(first)} to {instant(last)}"
        )
        raise InputError(Finding("empty-window", message))
    nodes = tuple(node for node, amount in enumerate(amounts) if amount)
    jobs = {job.job_id: job.about for job in placed}
    return Window(one, resource, begin, end, system, found, nodes, down, jobs)


class _Placed(NamedTuple):
    """A job within the window: times, amount of a unit, units by node, attributes."""

    start: int
    end: int
    job_id: int
    amount: int
    units: Mapping[int, int]
    about: JobAbout


def _jobs_in_window(one: StudiedRun, resource: str, begin: int, end: int) -> list[_Placed]:
    """Return the jobs that run within a window, by start and number."""
    found = []
    names = ("job_id", "start_time", "end_time", "units", "nodes", "node_units", "unit_request")
    for part in one.run.jobs.parts(*names, "user"):
        inside = part.filter(
            pc.and_(pc.less(part["start_time"], end), pc.greater(part["end_time"], begin))
        )
        # Jobs that take no time hold nothing, and would have no width.
        inside = inside.filter(pc.greater(inside["end_time"], inside["start_time"]))
        for row in inside.to_pylist():
            start, over, amount = row["start_time"], row["end_time"], row["unit_request"][resource]
            area = amount * row["units"] * (min(over, end) - max(start, begin))
            about = JobAbout(row["user"], len(row["nodes"]), area)
            units = dict(zip(row["nodes"], row["node_units"], strict=True))
            found.append(_Placed(start, over, row["job_id"], amount, units, about))
    # By start, then by number: equal runs give equal charts whatever the order of the file.
    return sorted(found, key=lambda job: (job.start, job.job_id))


def _rectangles(
    placed: Sequence[_Placed],
    capacity: Sequence[int],
    group_of: Sequence[int],
    begin: int,
    end: int,
) -> tuple[JobRectangle, ...]:
    free: dict[int, list[tuple[int, int]]] = {}
    leaving: list[tuple[int, int, tuple[tuple[int, int], ...]]] = []
    found: list[JobRectangle] = []
    for job in placed:
        # Ends come before starts of the same second: the node is free again.
        while leaving and leaving[0][0] <= job.start:
            _, node, shares = heappop(leaving)
            for share in shares:
                insort(free[node], share)
        visible = max(job.start, begin), min(job.end, end)
        filled: int | None = None
        for node, units in sorted(job.units.items()):
            if not job.amount * units:
                continue
            scale = capacity[node]
            shares = _take(free.setdefault(node, [(0, scale)]), job.amount * units)
            heappush(leaving, (job.end, node, shares))
            whole = shares == ((0, scale),)
            if whole and filled == node - 1 and group_of[node] == group_of[filled]:
                # One rectangle for neighbours: a wide job is seen as one, and drawn faster.
                found[-1] = found[-1]._replace(high=found[-1].high + 1)
            else:
                found += [
                    JobRectangle(job.job_id, node, *visible, low / scale, high / scale)
                    for low, high in shares
                ]
            filled = node if whole else None
        # Checked while collecting: a whole year of jobs must not fill the memory first.
        if len(found) > LARGEST:
            message = (
                f"more than {LARGEST:,} rectangles from {begin} s to {end} s: choose a shorter"
                " window with --from and --to"
            )
            raise InputError(Finding("window-too-large", message))
    return tuple(found)


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
