"""Check of the rows of `shared_resources.parquet` against the jobs and the declared capacities."""

from collections.abc import Iterator

import numpy as np

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.jobs import Match
from hpcsched.audit.shared_resource_checks import changes_between, course_of, drawn_at, offered_at
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import SHARED_RESOURCES
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import System

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
