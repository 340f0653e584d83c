"""Checks of recorded reasons, and of their details."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from hpcsched.audit.columns import AuditedRun, RunColumns
from hpcsched.audit.partitions import Rules, rules_of
from hpcsched.audit.violations import Check, rule
from hpcsched.runs.files import REASONS
from hpcsched.system.outages import Outage, node_numbers
from hpcsched.system.system import IntArray

_LITERAL = {
    ("in_order", "nothing runs and the plan starts nothing, so the first job starts"),
    ("no_room", "it was to start now, and no nodes were found for it"),
    ("solver_postponed", "jobs that run for no time go first in an instant"),
    ("beyond_depth", "default_queue_depth"),
}
_SHARED = re.compile(r"shared resource (.+)")
_PROMISE = re.compile(r"at first promised for (\d+) s")
_THINK = re.compile(r"think time, until second (\d+)")
_BEGIN = re.compile(r"until second (\d+)")
_OUTAGES = re.compile(r"(.+?)(?: and (\d+) more)?")
_DOWN = re.compile(r"node (\S+) is out of service")
_GOES_DOWN = re.compile(
    r"node (\S+) goes out of service at (\d+), and the job is predicted to end at (\d+)"
)
_OVERDRAWN = re.compile(
    r"shared resource (.+): (\d+) would be drawn, (-?\d+) free since the decision was asked for"
)
_SHOWN_OUTAGES = 3

_STARTS = ("in_order", "backfilled", "planned")
_NAME_A_WAITING_JOB = ("reserved_for", "behind", "backfilled")
_NAME_A_JOB = (*_NAME_A_WAITING_JOB, "dependency")
_WITH_DETAIL = ("no_room", "reserved_for", "behind", "beyond_depth")
_WITHOUT_TIME = ("in_order", "backfilled", "limit", "dependency", "begin_time", None)
_NOT_PROMISED = (*_WITHOUT_TIME, "outage", "planned")
"""Kinds of a job that may not have been shown to the dispatcher, or started: it gets another
promise."""

_WAITS = (
    *("no_room", "reserved_for", "behind", "beyond_depth", "solver_postponed", "not_planned"),
    *("limit", "dependency", "outage", "recorded_later", "begin_time"),
)


class ReasonRow(NamedTuple):
    """A row of `reasons.parquet`, and the second at which its round took effect, once known."""

    round: int
    now: int
    job_id: int
    kind: str | None
    job: int | None
    time: int | None
    detail: str
    done: int = -1


@rule(lambda at: (at.run.path / REASONS).is_file())
def reasons(check: Check, at: AuditedRun) -> None:
    """Check that reasons are of jobs that were there, in rounds that were held.

    The file is `reasons.parquet`.

    The audit cannot tell whether a reason is the true one. A reason to start or to wait belongs to
    a job that does, in a round of that time; jobs that are named must be in the trace. If all
    reasons are those of hpcsched, each job has one from its first round on, and each start has one.
    """
    names = ReasonRow._fields[:-1]
    table = at.run.reasons.read(*names)
    check.looked_at = table.num_rows
    if at.declared.third_party_dispatcher:
        check.notes.append("details of reasons were not checked: a plugin may state any")
    told = Reasons(check, at)
    for values in zip(*(table[name].to_pylist() for name in names), strict=True):
        told.check_row(ReasonRow(*values))
    if not at.declared.third_party_dispatcher:
        told.check_presence()


def _by_job(run: RunColumns, column: IntArray, rows: Any = slice(None)) -> dict[int, int]:
    return dict(zip(run.job_id[rows].tolist(), column[rows].tolist(), strict=True))


class Reasons:
    """The rows so far, and the jobs, resources and outages that they are held against."""

    def __init__(self, check: Check, at: AuditedRun) -> None:
        self._check, self._at, run, trace = check, at, at.jobs, at.trace
        self._predicted = _by_job(run, run.predicted_run_time)
        self._ends = _by_job(run, run.left_at, run.ran | run.withdrawn)
        self._place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
        submits = zip(trace.job_id.tolist(), trace.submit_time.tolist(), strict=True)
        self._submitted: dict[int, int] = dict(submits)
        self._resources = {resource.name for resource in at.system.shared_resources}
        self._nodes = node_numbers(at.system)
        rules = rules_of(trace, at.limits) if at.limits.any else Rules([], trace.job_id)
        told = [
            {of.name for of in one.limits} | {of.name for of in one.over_time}
            for one in rules.distinct
        ]
        own = rules.of_job.tolist() if told else []
        self._limits = {job_id: told[n] for job_id, n in zip(self._place, own, strict=False)}
        ran = at.attempts.ran
        starts = at.attempts.job_id[ran].tolist(), at.attempts.start_time[ran].tolist()
        self._starts = list(zip(*starts, strict=True))
        # They may have lost attempts before.
        self._rejected = frozenset(at.jobs.job_id[at.jobs.dismissed].tolist())
        self._starts_of: dict[int, set[int]] = {}
        for job_id, start in self._starts:
            self._starts_of.setdefault(job_id, set()).add(start)
        self._last_round = 1
        self._first: dict[int, int] = {}
        self._before: dict[int, ReasonRow] = {}
        self._told_starts: set[tuple[int, int]] = set()
        self._promises: dict[int, str] = {}

    def check_row(self, row: ReasonRow) -> None:
        """Check one row against the round, the jobs and the row of the same job before it."""
        check, rounds = self._check, self._at.rounds
        number, now, job_id, kind, other, time, _, _ = row
        where = f"round {number}, job {job_id}"
        # Also guards the look-up of the round below.
        if not self._last_round <= number <= len(rounds.now):
            check.found(f"{where}: expected a round that was held, in order of rounds")
            return
        self._last_round = number
        asked, done = int(rounds.now[number - 1]), int(rounds.done[number - 1])
        if now != asked:
            check.found(f"{where}: now: expected {asked}, found {now}")
        known = job_id in self._submitted and self._submitted[job_id] <= asked
        if not known:
            check.found(f"{where}: expected a job that was submitted by {asked}")
        if other is not None and other not in self._submitted:
            check.found(f"{where}: job: expected one of the trace, found {other}")
        if time is not None and time < asked:
            check.found(f"{where}: time: expected at least {asked}, found {time}")
        mine = self._starts_of.get(job_id, set())
        if kind in _STARTS:
            self._told_starts.add((job_id, done))
            if done not in mine and not self._at.partial:
                check.found(f"{where}: kind: {kind}, but the job did not start at {done}")
        elif kind is not None and kind not in _WAITS:
            check.found(f"{where}: kind: expected a known one, found {kind!r}")
        elif mine and done > max(mine) and job_id not in self._rejected:
            check.found(f"{where}: expected a job that waited, found it started at {max(mine)}")
        if known and not self._at.declared.third_party_dispatcher:
            self._check_words(where, row._replace(done=done))
        self._first.setdefault(job_id, number)
        self._before[job_id] = row

    def _check_words(self, where: str, row: ReasonRow) -> None:
        """Check job, time and detail of a reason of hpcsched, by its kind."""
        check, kind, other = self._check, row.kind, row.job
        if kind in _NAME_A_WAITING_JOB and other is not None:
            began = max(self._starts_of.get(other, {row.done}))
            if self._submitted.get(other, 0) > row.now or began < row.done or other == row.job_id:
                check.found(f"{where}: job: expected one that waited, found {other}")
        if other is not None and kind not in _NAME_A_JOB:
            check.found(f"{where}: job: expected none, found {other}")
        expected = row.now if kind == "planned" else None
        if kind in (*_WITHOUT_TIME, "planned") and row.time != expected:
            check.found(f"{where}: time: expected {expected}, found {row.time}")
        if not self.may_be(row):
            check.found(f"{where}: detail: expected one of {kind}, found {row.detail!r}")
        before = self._before.get(row.job_id)
        if before is not None and before.round == row.round:
            check.found(f"{where}: expected one reason in a round, found another")
        if before is None or kind in _STARTS:
            return
        again = row._replace(round=before.round, now=before.now, time=before.time, done=before.done)
        if again == before and (row.time is None or before.time is not None):
            check.found(f"{where}: expected another reason than in round {before.round}")

    def check_presence(self) -> None:
        """Check that each job has a reason from its first round on, and each start has one."""
        for job_id, start in self._starts:
            if (job_id, start) not in self._told_starts:
                self._check.found(f"job {job_id}: expected a reason for its start at {start}")
        for job_id, number in self._first.items():
            submitted = self._submitted.get(job_id)
            if submitted is None:
                continue
            first = int(np.searchsorted(self._at.rounds.now, submitted)) + 1
            if number != first:
                expected = f"expected its first reason in round {first}, found it in round {number}"
                self._check.found(f"job {job_id}: {expected}")

    def may_be(self, row: ReasonRow) -> bool:
        """Return whether a row's detail agrees with the trace, the limits and earlier promises."""
        if row.kind in _NOT_PROMISED:
            self._promises.pop(row.job_id, None)
        if row.kind == "dependency":
            return self._is_dependency(row)
        if row.kind == "outage":
            return self._are_outages(row)
        if row.kind == "begin_time":
            place, begin = self._place[row.job_id], _BEGIN.fullmatch(row.detail)
            due = self._submitted[row.job_id] + int(self._at.trace.begin_delay[place])
            return begin is not None and row.now < int(begin[1]) == due
        if row.kind == "limit":
            return row.detail in self._limits.get(row.job_id, ()) or self._came_too_late(row)
        if not row.detail or (row.kind, row.detail) in _LITERAL:
            return True
        parts = row.detail.split("; ")
        return row.kind in _WITH_DETAIL and all(self._is_part(row, part) for part in parts)

    def _is_part(self, row: ReasonRow, part: str) -> bool:
        """Return True for a declared shared resource, or the one promise of the job."""
        shared, promise = _SHARED.fullmatch(part), _PROMISE.fullmatch(part)
        if shared is not None:
            return row.kind == "no_room" and shared[1] in self._resources
        if promise is None or self._promises.setdefault(row.job_id, part) != part:
            return False
        return row.time is None or int(promise[1]) < row.time

    def _is_dependency(self, row: ReasonRow) -> bool:
        place, trace = self._place[row.job_id], self._at.trace
        think = _THINK.fullmatch(row.detail)
        if row.job not in trace.after[place] or think is None:
            return row.job in trace.after[place] and not row.detail
        # Of a job that was rejected, when it left is not recorded.
        until, end = int(think[1]), self._ends.get(row.job)
        return until > row.now and (end is None or until == end + int(trace.think_time[place]))

    def _are_outages(self, row: ReasonRow) -> bool:
        """Return True for outages that are there, or come before the job's predicted end.

        A job is planned for the end of one of them, and they are announced.
        """
        end, outages = row.now + self._predicted.get(row.job_id, 2**62), self._at.outages.all
        reached = [one for one in outages if one.start < end and one.end > row.now]
        if row.time is not None:
            reached = [one for one in reached if one.announced]
            if all(one.end > row.time for one in reached):
                return False
        labels = {one.label for one in reached}
        found = _OUTAGES.fullmatch(row.detail)
        if found is None:
            return False
        names, more = found[1].split(", "), int(found[2] or 0)
        complete = len(names) + more <= len(labels) and (not more or len(names) == _SHOWN_OUTAGES)
        return complete and labels >= set(names)

    def _came_too_late(self, row: ReasonRow) -> bool:
        """Return True for a cause that can keep a decided start from being carried out."""
        overdrawn = _OVERDRAWN.fullmatch(row.detail)
        if overdrawn is not None:
            return overdrawn[1] in self._resources and int(overdrawn[2]) > int(overdrawn[3])
        down, goes = _DOWN.fullmatch(row.detail), _GOES_DOWN.fullmatch(row.detail)
        if down is not None:
            return any(one.start <= row.done < one.end for one in self._outages_of(down[1]))
        if goes is None:
            return False
        end = row.done + self._predicted.get(row.job_id, int(goes[3]) - row.done)
        begins = (one.start == int(goes[2]) for one in self._outages_of(goes[1]))
        return end == int(goes[3]) and any(begins)

    def _outages_of(self, name: str) -> Iterator[Outage]:
        """Yield the outages of a node."""
        node = self._nodes.get(name)
        return (outage for outage in self._at.outages.all if node in outage.nodes)
