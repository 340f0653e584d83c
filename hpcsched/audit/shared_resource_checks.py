"""Checks of shared resources: amounts drawn, figures, and their records.

More can be drawn from a shared resource than it offers only where its capacity has fallen, and
then nothing may start that draws from it. Ends come before starts, and a zero-length job draws
nothing. A node draws as long as jobs follow each other on it without a gap.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.audit.columns import AuditedRun, Replayed, levels_over_time, whole_numbers
from hpcsched.audit.violations import Check, rule
from hpcsched.runs.files import SHARED_RESOURCES
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.shared_resources import SharedResource
from hpcsched.system.system import IntArray


class Course(NamedTuple):
    """Time series of the amount drawn from a shared resource, `[K]`.

    Attributes
    ----------
    instants
        Seconds at which the amount changes, ascending.
    added
        Draw of what begins at that instant.
    """

    instants: IntArray
    level: IntArray
    added: IntArray

    def drawn_at(self, times: IntArray) -> IntArray:
        """Return the amounts drawn from some seconds on."""
        upto = np.searchsorted(self.instants, times, side="right")
        return np.concatenate(([0], self.level))[upto]


def course_of(resource: SharedResource, at: Replayed) -> Course:
    """Return the time series of the amount that jobs draw from a shared resource."""
    run, draw = at.attempts, resource.draw
    # A zero-length job has given back its draw within the same instant.
    lasting = run.ran & (run.end_time > run.start_time)
    begins, ends, amounts = (
        run.start_time[lasting],
        run.end_time[lasting],
        _own(resource, at)[lasting],
    )
    if draw.per_node and not draw.traced:
        # Back-to-back jobs keep a node on: its draw is not counted twice.
        row = run.place_row[lasting[run.place_row]]
        node, ones = run.node[lasting[run.place_row]], np.ones_like(row)
        _, time, jobs = levels_over_time(node, run.start_time[row], run.end_time[row], ones)
        on, before = jobs > 0, np.concatenate(([0], jobs))[:-1] > 0
        begins = np.concatenate((begins, time[on & ~before]))
        ends = np.concatenate((ends, time[~on & before]))
        nodes = np.full(len(begins) - len(amounts), draw.per_node)
        amounts = np.concatenate((amounts, nodes))
    _, instants, level = levels_over_time(np.zeros_like(begins), begins, ends, amounts)
    added = np.zeros_like(level)
    np.add.at(added, np.searchsorted(instants, begins), amounts)
    return Course(instants, level, added)


def _own(resource: SharedResource, at: Replayed) -> IntArray:
    """Return the amount that each attempt draws, without its nodes, `[J]`."""
    run, draw = at.attempts, resource.draw
    if draw.traced:
        own = np.zeros(len(run.job_id), dtype=np.int64)
        rows, of = at.attempts_matched
        asked = at.trace.shared_requests
        own[rows] = [dict(asked[k]).get(resource.name, 0) for k in of.tolist()]
        return own
    per = np.array([draw.per.get(name, 0) for name in at.system.resource_types], dtype=np.int64)
    return run.units * (run.unit_request @ per) + draw.per_job


def offered_at(resource: SharedResource, times: IntArray) -> IntArray:
    """Return the capacity of a shared resource at some seconds, change by change."""
    offered, since = np.full(len(times), resource.capacity), times
    if resource.every is not None:
        # What the period before ended with holds until the first change of the next.
        later = times >= resource.every
        offered[later] = [resource.capacity, *(c.capacity for c in resource.changes)][-1]
        since = np.where(later, times % resource.every, times)
    for at, capacity in resource.changes:
        offered[since >= at] = capacity
    return offered


def changes_between(resource: SharedResource, begin: int, end: int) -> IntArray:
    """Return the seconds strictly between `begin` and `end` at which a capacity changes."""
    periods = np.array([0] if resource.every is None else range(0, end, resource.every))
    changes = np.array([change.at for change in resource.changes], dtype=np.int64)
    times = np.add.outer(periods.astype(np.int64), changes).ravel()
    return times[(begin < times) & (times < end)]


def _span(at: Replayed) -> tuple[int, int]:
    """Return the first submit time, and the last end or that time."""
    begin = min(at.trace.submit_time.tolist(), default=0)
    return begin, int(at.attempts.end_time[at.attempts.ran].max(initial=begin))


@rule(lambda at: at.system.shared_resources)
def draws(check: Check, at: Replayed) -> None:
    """Check that no start draws more from a shared resource than is free."""
    for resource in at.system.shared_resources:
        course = course_of(resource, at)
        offered = offered_at(resource, course.instants)
        check.looked_at += len(offered)
        over = (course.added > 0) & (course.level > offered)
        message = "second {}: expected at most {} of {} to be drawn where jobs start, found {}"
        check.found_at(over, message, course.instants, offered, resource.name, course.level)


@rule(lambda at: at.system.shared_resources)
def largest_draws(check: Check, at: Replayed) -> None:
    """Check that no job ran that draws more than a shared resource ever offers."""
    run, (begin, _) = at.attempts, _span(at)
    for resource in at.system.shared_resources:
        later = [c.capacity for c in resource.changes if resource.every is not None or c.at > begin]
        most = max([*offered_at(resource, np.array([begin])).tolist(), *later])
        own = _own(resource, at)
        check.looked_at += int(run.ran.sum())
        message = "job {}: expected it to draw at most {} of {}, found {}"
        check.found_at(run.ran & (own > most), message, run.job_id, most, resource.name, own)


@rule(lambda at: at.system.shared_resources)
def shared_resource_figures(check: Check, at: AuditedRun) -> None:
    """Check that the summary's figures of shared resources agree with a recalculation.

    Those of a partial run are not computed again: the jobs that were running are not recorded.
    """
    if at.partial:
        check.notes.append("shared resources were not worked out again: jobs were left running")
        return
    stated, (begin, end) = at.run.summary.get("shared_resources", {}), _span(at)
    for resource in at.system.shared_resources:
        course = course_of(resource, at)
        changes = changes_between(resource, begin, end)
        instants = np.unique(np.concatenate(([begin, end], changes, course.instants)))
        # Python integers: an amount × seconds may need more than 64 bits.
        length = np.diff(instants).astype(object)
        drawn = course.drawn_at(instants)[:-1]
        over = np.maximum(drawn - offered_at(resource, instants)[:-1], 0)
        energy = (drawn * length).sum()
        expected = {
            "energy": energy,
            "mean": energy / (end - begin) if end > begin else None,
            "peak": drawn.max(initial=0).item(),
            "over_cap_time": length[over > 0].sum(),
            "over_cap_energy": (over * length).sum(),
            "over_cap_peak": over.max(initial=0).item(),
        }
        found = stated.get(resource.name, {})
        check.compare_all(f"shared_resources.{resource.name}", expected, found)


@rule(lambda at: at.system.shared_resources and not at.partial)
def shared_resource_records(check: Check, at: AuditedRun) -> None:
    """Check that draws and capacities of shared resources agree with a recalculation.

    They are recorded whenever one changes, first and last included.

    A partial run is not checked: the jobs that were running are not recorded.
    """
    table = ParquetTable(at.run.path / SHARED_RESOURCES).whole()
    resources, columns = at.system.shared_resources, [whole_numbers(table["time"])]
    for what in ("drawn", "offered"):
        amounts = table[what].combine_chunks()
        columns += [whole_numbers(amounts.field(resource.name)) for resource in resources]
    found = np.stack(columns, axis=1)
    (begin, end), run = _span(at), at.attempts
    submits = at.trace.submit_time
    moments = [submits[submits == begin], run.start_time[run.ran], run.end_time[run.ran]]
    moments += [changes_between(resource, begin, end) for resource in resources]
    instants = np.unique(np.concatenate(moments))
    drawn = [course_of(resource, at).drawn_at(instants) for resource in resources]
    offered = [offered_at(resource, instants) for resource in resources]
    expected = np.stack((instants, *drawn, *offered), axis=1)
    changed = (np.diff(expected[:, 1:], axis=0, prepend=-1) != 0).any(axis=1) | (instants == end)
    expected = expected[changed]
    check.expect(f"rows of {SHARED_RESOURCES}", len(expected), len(found))
    both = min(len(expected), len(found))
    check.looked_at += both
    wrong = (expected[:both] != found[:both]).any(axis=1)
    message = "{}, row {}: time, drawn and offered: expected {}, found {}"
    rows = np.arange(1, both + 1)
    check.found_at(wrong, message, SHARED_RESOURCES, rows, expected, found)
