"""Data of a Gantt chart: rectangles of jobs on nodes in a window of time, and their categories."""

from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import Literal, NamedTuple, NoReturn, get_args

import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.figures.figure_style import PALETTE
from hpcsched.report.studied_runs import StudiedRun
from hpcsched.report.tables.study_tables import run_time_classes
from hpcsched.runs.outage_records import recorded_outages
from hpcsched.scenario.resolved import read_system
from hpcsched.system.outages import down_time
from hpcsched.system.system import System
from hpcsched.workload.trace_calendar import simulated_second

By = Literal["user", "size", "run-time", "state", "job"]
"""Attributes of jobs that colours can show; `job` only tells neighbours apart."""
ATTRIBUTES: Sequence[By] = get_args(By)

OTHERS = "others"
LARGEST_SHOWN = 7
"""Largest number of users with a colour of their own."""
_GREY = "#D5D5D5"
_SIZES = (1, 4, 16, 64)
"""Largest number of nodes of each class of sizes but the last."""
_COLOURS = tuple(
    PALETTE[name]
    for name in ("blue", "orange", "green", "purple", "sky blue", "vermilion", "yellow")
)
# Light to dark, so that print in grey keeps their order.
_SIZE_COLOURS = ("#FDE725", "#5EC962", "#21918C", "#3B528B", "#440154")
_STATE_COLOURS = {
    "completed": PALETTE["sky blue"],
    "killed": PALETTE["vermilion"],
    "failed": PALETTE["black"],
}


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
    run_time_class: str
    state: str
    area: int


def default_attribute(jobs: Iterable[JobAbout]) -> By:
    """Return the attribute that is shown by default: users if there are several, else sizes."""
    return "user" if len({job.user for job in jobs if job.user is not None}) > 1 else "size"


def category_of(by: By, jobs: Sequence[JobAbout]) -> Callable[[JobAbout], str]:
    """Return the function that names the category of a job."""
    if by == "user":
        areas: dict[int | None, int] = defaultdict(int)
        for job in jobs:
            areas[job.user] += job.area
        ascending = sorted(areas, key=lambda user: (-areas[user], user is None, user or 0))
        # A category of one user less would not be shorter.
        count = LARGEST_SHOWN if len(ascending) > LARGEST_SHOWN + 1 else len(ascending)
        shown = {user: _user_name(user) for user in ascending[:count]}
        return lambda job: shown.get(job.user, OTHERS)
    names: Mapping[By, Callable[[JobAbout], str]] = {
        "size": lambda job: _size_name(job.nodes),
        "run-time": lambda job: job.run_time_class,
        "state": lambda job: job.state,
        "job": lambda _: "",
    }
    return names[by]


def category_colours(
    by: By, jobs: Sequence[JobAbout], run_time_classes: Sequence[str]
) -> dict[str, str]:
    """Return the colours of the categories that jobs have, in the order of the legend.

    Parameters
    ----------
    run_time_classes
        Names of the classes of run times, ascending.
    """
    name = category_of(by, jobs)
    areas: dict[str, int] = defaultdict(int)
    for job in jobs:
        areas[name(job)] += job.area
    if by == "user":
        users = sorted(areas, key=lambda one: (one == OTHERS, -areas[one], one))
        colours = dict(zip(users, (*_COLOURS, PALETTE["grey"]), strict=False))
        return {**colours, OTHERS: _GREY} if OTHERS in areas else colours
    ordered: Mapping[By, Mapping[str, str]] = {
        "size": dict(zip(map(_size_name, (*_SIZES, _SIZES[-1] + 1)), _SIZE_COLOURS, strict=True)),
        "run-time": dict(zip(run_time_classes, _COLOURS * len(run_time_classes), strict=False)),
        "state": {**_STATE_COLOURS, **dict.fromkeys(sorted(areas.keys() - _STATE_COLOURS), _GREY)},
        "job": {},
    }
    return {one: colour for one, colour in ordered[by].items() if one in areas}


def _user_name(user: int | None) -> str:
    return "no user" if user is None else f"user {user}"


def _size_name(nodes: int) -> str:
    """Return the name of the class of a number of nodes."""
    least = 1
    for most in _SIZES:
        if nodes <= most:
            return "1 node" if most == 1 else f"{least} to {most} nodes"
        least = most + 1
    return f"more than {_SIZES[-1]} nodes"


_NONE = -2
"""Number of no node, and of no neighbour of one."""
LARGEST = 200_000
"""Largest number of rectangles; more could be neither drawn nor distinguished."""


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
    """Outage of a node, or of neighbouring nodes at once.

    Attributes
    ----------
    begin, end
        Simulated seconds.
    """

    node: int
    begin: int
    end: int
    nodes: int = 1


class MarkedSpan(NamedTuple):
    """Span of time that a chart marks, in simulated seconds."""

    begin: int
    end: int


class Window(NamedTuple):
    """Content of a Gantt chart.

    Attributes
    ----------
    begin, end
        Bounds of the window, in simulated seconds.
    nodes
        Nodes with capacity of the resource type, by ascending number.
    jobs
        Attributes of the jobs, by number.
    """

    begin: int
    end: int
    system: System
    rectangles: tuple[JobRectangle, ...]
    nodes: tuple[int, ...]
    down: tuple[NodeOutage, ...]
    jobs: Mapping[int, JobAbout]


def gantt_window(
    one: StudiedRun, resource: str | None, begin: int | str | None, end: int | str | None
) -> tuple[str, Window]:
    """Return the rectangles of the jobs in a window of time.

    Parameters
    ----------
    resource
        Resource type; None is the system's first.
    begin, end
        Bounds, as in `simulated_second`; None is the first start or the last end.
    """
    system = read_system(one.run.scenario_path)
    if resource is None:
        resource = system.resource_types[0]
    elif resource not in system.resource_types:
        there = ", ".join(system.resource_types)
        message = f"the system of {one.name} has no {resource!r}; there are: {there}"
        raise InputError(Finding("unknown-resource-type", message))
    begin, end = _bounds(one, begin, end)
    amounts = system.capacity[:, system.resource_types.index(resource)].tolist()
    nodes = tuple(node for node, amount in enumerate(amounts) if amount)
    placed = _jobs_in_window(one, resource, begin, end)
    found = _rectangles(placed, amounts, system.group_of.tolist(), begin, end)
    down = _together(there for there in _down(one, begin, end) if amounts[there.node])
    # Axes without any data have no size.
    if not found and not down:
        _refuse_empty(one, resource, begin, end)
    jobs = {job.job_id: job.about for job in placed}
    return resource, Window(begin, end, system, found, nodes, down, jobs)


def shared_bounds(
    runs: Sequence[StudiedRun], begin: int | str | None, end: int | str | None
) -> list[tuple[int | str, int | str]]:
    """Return the bounds of the window of each run, which runs of one trace share.

    Parameters
    ----------
    begin, end
        Bounds, as in `simulated_second`; None is the first start or the last end of all.
    """
    spans = [(one.group, *_span(one)) for one in runs]
    found: list[tuple[int | str, int | str]] = []
    for one in runs:
        same = [(first, last) for group, first, last in spans if group == one.group]
        found.append(
            (
                min(first for first, _ in same) if begin is None else begin,
                max(last for _, last in same) if end is None else end,
            )
        )
    return found


def marked_spans(
    one: StudiedRun, window: Window, marks: Sequence[tuple[int | str, int | str]]
) -> list[MarkedSpan]:
    """Return spans of time that are marked in the window of a run, clipped to it.

    Parameters
    ----------
    marks
        Begin and end of each span, as in `simulated_second`.
    """
    calendar = one.run.calendar
    found = []
    for mark in marks:
        since, until = (_second(one, time) for time in mark)
        told = f"from {calendar.instant(since)} to {calendar.instant(until)}"
        if since >= until:
            raise InputError(Finding("empty-mark", f"the marked span {told} is empty"))
        if until <= window.begin or since >= window.end:
            message = (
                f"the marked span {told} is outside the window of {one.name}, which is from"
                f" {calendar.instant(window.begin)} to {calendar.instant(window.end)}"
            )
            raise InputError(Finding("mark-outside", message))
        found.append(MarkedSpan(max(since, window.begin), min(until, window.end)))
    return found


def _second(one: StudiedRun, given: int | str) -> int:
    return simulated_second(given, one.run.calendar, one.run.first_submit_time)


def _bounds(one: StudiedRun, begin: int | str | None, end: int | str | None) -> tuple[int, int]:
    """Return the bounds of a window in simulated seconds; raise InputError if it is empty."""
    first, last = _span(one)
    since = first if begin is None else _second(one, begin)
    until = last if end is None else _second(one, end)
    if since >= until:
        calendar = one.run.calendar
        message = (
            f"the window of {one.name} is empty: it is from {calendar.instant(since)} to"
            f" {calendar.instant(until)}"
        )
        raise InputError(Finding("empty-window", message))
    return since, until


def _refuse_empty(one: StudiedRun, resource: str, begin: int, end: int) -> NoReturn:
    instant, (first, last) = one.run.calendar.instant, _span(one)
    message = (
        f"no job of {one.name} has {resource} from {instant(begin)} to {instant(end)}; its jobs run"
        f" from {instant(first)} to {instant(last)}"
    )
    raise InputError(Finding("empty-window", message))


def _down(one: StudiedRun, begin: int, end: int) -> Iterator[NodeOutage]:
    """Yield the outages of nodes in a window of time, clipped to it."""
    down = down_time(recorded_outages(one.run))
    for node, start, over in zip(*(column.tolist() for column in down), strict=True):
        if start < end and over > begin:
            yield NodeOutage(node, max(start, begin), min(over, end))


def _together(down: Iterable[NodeOutage]) -> tuple[NodeOutage, ...]:
    """Return the outages, those of neighbouring nodes at the same time as one."""
    found: list[NodeOutage] = []
    for one in sorted(down, key=lambda outage: (outage.begin, outage.end, outage.node)):
        last = found[-1] if found else None
        same = last is not None and (last.begin, last.end) == (one.begin, one.end)
        if last is not None and same and one.node == last.node + last.nodes:
            found[-1] = last._replace(nodes=last.nodes + 1)
        else:
            found.append(one)
    return tuple(found)


def _span(one: StudiedRun) -> tuple[int, int]:
    table = one.run.all_jobs.read("start_time", "end_time")
    return pc.min(table["start_time"]).as_py() or 0, pc.max(table["end_time"]).as_py() or 0


class _Placed(NamedTuple):
    """A job within the window: times, amount of a unit, nodes with their units, attributes."""

    start: int
    end: int
    job_id: int
    amount: int
    nodes: Sequence[int]
    node_units: Sequence[int]
    about: JobAbout


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
        filled = _NONE
        for node, units in sorted(zip(job.nodes, job.node_units, strict=True)):
            if not job.amount * units:
                continue
            shares = _take(free.setdefault(node, [(0, capacity[node])]), job.amount * units)
            heappush(leaving, (job.end, node, shares))
            whole = shares == ((0, capacity[node]),)
            if whole and node == filled + 1 and group_of[node] == group_of[filled]:
                # One rectangle for neighbours: a wide job is seen as one, and drawn faster.
                found[-1] = found[-1]._replace(high=found[-1].high + 1)
            else:
                # Shares are taken from the whole job, so that a rectangle keeps its height as the
                # window moves; only its ends are clipped.
                scale = capacity[node]
                found += [
                    JobRectangle(job.job_id, node, *visible, low / scale, high / scale)
                    for low, high in shares
                ]
            filled = node if whole else _NONE
        # Checked while collecting: a whole year of jobs must not fill the memory first.
        if len(found) > LARGEST:
            message = (
                f"more than {LARGEST:,} rectangles from {begin} s to {end} s: choose a shorter"
                " window with --from and --to"
            )
            raise InputError(Finding("window-too-large", message))
    return tuple(found)


_COLUMNS = (
    "job_id", "start_time", "end_time", "units", "nodes", "node_units", "unit_request", "user",
    "state",
)  # fmt: skip


def _jobs_in_window(one: StudiedRun, resource: str, begin: int, end: int) -> list[_Placed]:
    """Return the jobs that run within a window, by start and number."""
    found = []
    classes = list(run_time_classes(one))
    for part in one.run.jobs.parts(*_COLUMNS):
        inside = part.filter(
            pc.and_(pc.less(part["start_time"], end), pc.greater(part["end_time"], begin))
        )
        # Jobs that take no time hold nothing, and would have no width.
        inside = inside.filter(pc.greater(inside["end_time"], inside["start_time"]))
        for row in inside.to_pylist():
            start, over, amount = row["start_time"], row["end_time"], row["unit_request"][resource]
            about = JobAbout(
                row["user"],
                len(row["nodes"]),
                next(
                    (name for name, _, most in classes if most is None or over - start <= most),
                    classes[-1][0],
                ),
                row["state"],
                amount * row["units"] * (min(over, end) - max(start, begin)),
            )
            places = row["nodes"], row["node_units"]
            found.append(_Placed(start, over, row["job_id"], amount, *places, about))
    # By start, then by number: equal runs give equal charts whatever the order of the file.
    return sorted(found, key=lambda job: (job.start, job.job_id))


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


_IDLE = -1


class MergedRectangle(NamedTuple):
    """A rectangle of jobs of one category.

    Attributes
    ----------
    begin, end
        Simulated seconds.
    top, bottom
        Rows of nodes, from 0.
    """

    begin: float
    end: float
    top: float
    bottom: float
    category: str


def merged(
    rectangles: Sequence[MergedRectangle],
    bounds: tuple[int, int, int],
    cells: tuple[int, int],
) -> list[MergedRectangle]:
    """Return rectangles on a grid, each cell in the category that takes most of it.

    Parameters
    ----------
    rectangles
        Rectangles that do not overlap.

    Returns
    -------
    list
        Rectangles of equal neighbouring cells. A cell that is idle for half or more stays empty.
    """
    begin, end, rows = bounds
    names = list(dict.fromkeys(one.category for one in rectangles))
    covered = np.zeros((len(names), cells[1], cells[0]), dtype=np.float32)
    number: Mapping[str, int] = {name: k for k, name in enumerate(names)}
    across, down = cells[0] / (end - begin), cells[1] / rows
    for one in rectangles:
        left, wide = _shares((one.begin - begin) * across, (one.end - begin) * across, cells[0])
        top, high = _shares(one.top * down, one.bottom * down, cells[1])
        part = covered[number[one.category], top : top + len(high), left : left + len(wide)]
        part += high[:, None] * wide
    used = covered.sum(axis=0) > 0.5 if names else np.zeros(cells[::-1], dtype=bool)
    most = np.where(used, covered.argmax(axis=0), _IDLE) if names else np.full(cells[::-1], _IDLE)
    found: list[MergedRectangle] = []
    # Runs of the row above that reach down to this one, by their columns and category.
    above: dict[tuple[int, int, int], int] = {}
    for row, line in enumerate(most):
        edges = np.flatnonzero(np.diff(line, prepend=_IDLE - 1, append=_IDLE - 1))
        reaching: dict[tuple[int, int, int], int] = {}
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            run = low, high, int(line[low])
            if run[2] == _IDLE:
                continue
            if run in above:
                place = reaching[run] = above[run]
                found[place] = found[place]._replace(bottom=(row + 1) / down)
            else:
                reaching[run] = len(found)
                times = begin + low / across, begin + high / across
                found.append(MergedRectangle(*times, row / down, (row + 1) / down, names[run[2]]))
        above = reaching
    return found


def _shares(low: float, high: float, count: int) -> tuple[int, FloatColumn]:
    """Return the first cell that a span touches, and the share of each cell that it covers."""
    first, last = max(int(low), 0), min(int(np.ceil(high)), count)
    cell = np.arange(first, last)
    return first, np.minimum(cell + 1, high) - np.maximum(cell, low)
