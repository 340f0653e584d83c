"""Checks of shared resources: amounts drawn, figures, and their records."""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import BoolArray, RunColumns, TraceColumns
from hpcsched.audit.job_checks import Match
from hpcsched.audit.violations import Check, compare
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import SHARED_RESOURCES
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.shared_resources import SharedResource
from hpcsched.system.system import IntArray, System


def check_shared_resources(
    trace: TraceColumns, run: RunColumns, match: Match, system: System
) -> Iterator[Check]:
    """Yield the checks of shared resources, if the system has any.

    More can be drawn from a shared resource than it offers only where its capacity has fallen, and
    then nothing may start that draws from it. Ends come before starts, and a zero-length job draws
    nothing. A node draws as long as jobs follow each other on it without a gap.
    """
    for resource in system.shared_resources:
        yield _check_starts(resource, course_of(resource, trace, run, match, system))
        yield _check_largest(resource, trace, run, match, system)


def check_shared_resource_figures(
    summary: Mapping[str, Any],
    trace: TraceColumns,
    run: RunColumns,
    match: Match,
    system: System,
    *,
    partial: bool,
) -> Iterator[Check]:
    """Yield the check of the summary's figures of shared resources.

    Those of a partial run are not computed again: the jobs that were running are not recorded.
    """
    if not system.shared_resources:
        return
    check = Check("the summary's figures of shared resources agree with a recalculation")
    if partial:
        check.notes.append("shared resources were not worked out again: jobs were left running")
        yield check
        return
    stated = summary.get("shared_resources", {})
    for resource in system.shared_resources:
        course = course_of(resource, trace, run, match, system)
        begin = min(run.submit_time.tolist(), default=0)
        end = int(run.end_time[run.ran].max(initial=begin))
        for name, expected in _figures(resource, course, begin, end).items():
            compare(
                check,
                f"shared_resources.{resource.name}.{name}",
                expected,
                stated.get(resource.name, {}).get(name),
            )
    yield check


class Course(NamedTuple):
    """Time series of the amount drawn from a shared resource, `[K]`.

    Attributes
    ----------
    instants
        Seconds at which the amount changes, ascending.
    """

    instants: IntArray
    level: IntArray
    added: IntArray


def course_of(
    resource: SharedResource, trace: TraceColumns, run: RunColumns, match: Match, system: System
) -> Course:
    """Return the time series of the amount that jobs draw from a shared resource."""
    # A zero-length job has given back its draw within the same instant.
    lasting = run.ran & (run.end_time > run.start_time)
    rows = np.flatnonzero(lasting)
    amount = _own(resource, trace, run, match, system)[rows]
    begins, ends = run.start_time[rows], run.end_time[rows]
    if resource.draw.per_node and not resource.draw.traced:
        on, off = _switched_on(run, lasting)
        begins, ends = np.concatenate((begins, on)), np.concatenate((ends, off))
        amount = np.concatenate((amount, np.full(len(on), resource.draw.per_node)))
    instants, place = np.unique(np.concatenate((begins, ends)), return_inverse=True)
    more, less = np.zeros(len(instants), np.int64), np.zeros(len(instants), np.int64)
    np.add.at(more, place[: len(begins)], amount)
    np.add.at(less, place[len(begins) :], amount)
    return Course(instants, np.cumsum(more - less), more)


def drawn_at(course: Course, time: int) -> int:
    """Return the amount drawn from a second on."""
    upto = int(np.searchsorted(course.instants, time, side="right"))
    return int(course.level[upto - 1]) if upto else 0


def _check_starts(resource: SharedResource, course: Course) -> Check:
    """Check that no start draws more from a shared resource than is free."""
    check = Check(f"no start draws more from the shared resource {resource.name} than is free")
    check.looked_at = len(course.instants)
    for time, drawn, added in zip(*(column.tolist() for column in course), strict=True):
        offered = offered_at(resource, time)
        if added and drawn > offered:
            check.found(
                f"second {time}: expected at most {offered} to be drawn where jobs start,"
                f" found {drawn}"
            )
    return check


def _figures(
    resource: SharedResource, course: Course, begin: int, end: int
) -> dict[str, float | None]:
    """Return the figures of a shared resource, interval by interval, from `begin` to `end`."""
    changes = changes_between(resource, begin, end)
    energy = peak = over_time = over_energy = over_peak = 0
    for since, until in pairwise(sorted({begin, end, *changes, *course.instants.tolist()})):
        drawn = drawn_at(course, since)
        over = max(drawn - offered_at(resource, since), 0)
        energy += drawn * (until - since)
        over_time += until - since if over else 0
        over_energy += over * (until - since)
        peak, over_peak = max(peak, drawn), max(over_peak, over)
    return {
        "energy": energy,
        "mean": energy / (end - begin) if end > begin else None,
        "peak": peak,
        "over_cap_time": over_time,
        "over_cap_energy": over_energy,
        "over_cap_peak": over_peak,
    }


def changes_between(resource: SharedResource, begin: int, end: int) -> Iterator[int]:
    """Yield the seconds strictly between `begin` and `end` at which a capacity changes."""
    periods = [0] if resource.every is None else range(0, end, resource.every)
    for since in periods:
        for change in resource.changes:
            if begin < since + change.at < end:
                yield since + change.at


def _check_largest(
    resource: SharedResource, trace: TraceColumns, run: RunColumns, match: Match, system: System
) -> Check:
    """Check that no job ran that draws more than the shared resource ever offers."""
    check = Check(
        f"no job ran that draws more than the shared resource {resource.name} ever offers"
    )
    begin = min(run.submit_time.tolist(), default=0)
    later = [c.capacity for c in resource.changes if resource.every is not None or c.at > begin]
    most = max([offered_at(resource, begin), *later])
    own = _own(resource, trace, run, match, system)
    check.looked_at = int(run.ran.sum())
    check.found_at(
        np.flatnonzero(run.ran & (own > most)),
        lambda k: f"job {run.job_id[k]}: expected it to draw at most {most}, found {own[k]}",
    )
    return check


def _own(
    resource: SharedResource, trace: TraceColumns, run: RunColumns, match: Match, system: System
) -> IntArray:
    """Return the amount that each row's job draws, without its nodes, `[J]`."""
    own = np.zeros(len(run.job_id), dtype=np.int64)
    if resource.draw.traced:
        rows, of = match
        stated = [dict(trace.shared_requests[k]).get(resource.name, 0) for k in of.tolist()]
        own[rows] = stated
        return own
    for r, name in enumerate(system.resource_types):
        own += run.units * run.unit_request[:, r] * resource.draw.per.get(name, 0)
    return own + resource.draw.per_job


def _switched_on(run: RunColumns, lasting: BoolArray) -> tuple[IntArray, IntArray]:
    """Return begin and end of the intervals in which nodes were on, disjoint on each node."""
    row = run.place_row
    holds = lasting[row]
    row, node = row[holds], run.node[holds]
    begin, end = run.start_time[row], run.end_time[row]
    order = np.lexsort((begin, node))
    on: list[int] = []
    off: list[int] = []
    last = None
    for n, since, until in zip(
        node[order].tolist(), begin[order].tolist(), end[order].tolist(), strict=True
    ):
        # Back-to-back jobs keep a node on: its draw is not counted twice.
        if n == last and since <= off[-1]:
            off[-1] = max(off[-1], until)
        else:
            on.append(since)
            off.append(until)
        last = n
    return np.array(on, dtype=np.int64), np.array(off, dtype=np.int64)


def offered_at(resource: SharedResource, time: int) -> int:
    """Return the capacity of a shared resource at a second, looked up change by change."""
    offered, since = resource.capacity, time
    if resource.every is not None and time >= resource.every:
        offered = [resource.capacity, *(change.capacity for change in resource.changes)][-1]
        since = time % resource.every
    for at, capacity in resource.changes:
        if at <= since:
            offered = capacity
    return offered


_LEVELS = ("drawn", "offered")

Level = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A second, and from then on the amounts drawn from each shared resource and offered by each."""


def check_recorded_shared_resources(
    run: RunDirectory, trace: TraceColumns, columns: RunColumns, match: Match, system: System
) -> Iterator[Check]:
    """Yield the check of amounts drawn and offered over time, if the system has shared resources.

    A partial run is not checked: the jobs that were running are not recorded.
    """
    if not system.shared_resources or run.partial:
        return
    check = Check("draws and capacities of shared resources agree with a recalculation")
    names = [resource.name for resource in system.shared_resources]
    table = ParquetTable(run.path / SHARED_RESOURCES).read("time", "drawn", "offered")
    named = [[field.name for field in table.schema.field(what).type] for what in _LEVELS]
    check.expect("shared resources", [names, names], named)
    if named != [names, names]:
        yield check
        return
    rows = zip(*(table[name].to_pylist() for name in ("time", "drawn", "offered")), strict=True)
    found: list[Level] = [
        (time, tuple(drawn[name] for name in names), tuple(offered[name] for name in names))
        for time, drawn, offered in rows
    ]
    expected = list(_levels(trace, columns, match, system))
    check.expect("rows", len(expected), len(found))
    for wanted, there in zip(expected, found, strict=False):
        check.expect("from a second on, drawn and offered", wanted, there)
    yield check


def _levels(trace: TraceColumns, run: RunColumns, match: Match, system: System) -> Iterator[Level]:
    """Yield the amounts drawn and offered whenever one changes, first and last second included."""
    if not len(trace.submit_time):
        return
    begin = int(trace.submit_time.min())
    moments = np.concatenate((run.start_time[run.ran], run.end_time[run.ran]))
    end = int(moments.max(initial=begin))
    courses = [
        course_of(resource, trace, run, match, system) for resource in system.shared_resources
    ]
    instants = {begin, *moments.tolist()}
    for resource in system.shared_resources:
        instants.update(changes_between(resource, begin, end))
    last = None
    for time in sorted(instants):
        drawn = tuple(drawn_at(course, time) for course in courses)
        level = drawn, tuple(offered_at(resource, time) for resource in system.shared_resources)
        if level != last or time == end:
            yield time, *level
        last = level
