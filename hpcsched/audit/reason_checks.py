"""Checks of recorded reasons, and of their details."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import REASONS
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import System
from hpcsched.workload.site_partitions import Partitions

_LITERAL = {
    ("in_order", "nothing runs and the plan starts nothing, so the first job starts"),
    ("no_room", "it was to start now, and no nodes were found for it"),
    ("solver_postponed", "jobs that run for no time go first in an instant"),
    ("beyond_depth", "default_queue_depth"),
}
_SHARED = re.compile(r"shared resource (.+)")
_PROMISE = re.compile(r"at first promised for (\d+) s")
_THINK = re.compile(r"think time, until second (\d+)")
_OUTAGES = re.compile(r"(.+?)(?: and (\d+) more)?")
_DOWN = re.compile(r"node (\S+) is out of service")
_GOES_DOWN = re.compile(
    r"node (\S+) goes out of service at (\d+), and the job is predicted to end at (\d+)"
)
_OVERDRAWN = re.compile(
    r"shared resource (.+): (\d+) would be drawn, (-?\d+) free since the decision was asked for"
)
_SHOWN_OUTAGES = 3


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


class ReasonDetails:
    """Test of details against the declared resources, partitions and outages, and the jobs."""

    def __init__(
        self,
        trace: TraceColumns,
        run: RunColumns,
        system: System,
        partitions: Partitions,
        outages: Outages,
    ) -> None:
        self._trace, self._outages = trace, outages.all
        self._place = {job_id: k for k, job_id in enumerate(trace.job_id.tolist())}
        self._predicted = dict(
            zip(run.job_id.tolist(), run.predicted_run_time.tolist(), strict=True)
        )
        ran = np.flatnonzero(run.ran)
        self._ends = dict(zip(run.job_id[ran].tolist(), run.end_time[ran].tolist(), strict=True))
        self._resources = {resource.name for resource in system.shared_resources}
        self._nodes = {system.node_name(node): node for node in range(system.node_count)}
        limits = ("running_jobs_per_user", "nodes_per_user")
        self._limits = {
            f"partition {partition.name}: {limit} {getattr(partition, limit)}"
            for partition in partitions
            for limit in limits
            if getattr(partition, limit) is not None
        }
        self._promises: dict[int, str] = {}

    def may_be(self, row: ReasonRow) -> bool:
        """Return whether a row's detail agrees with the trace, the limits and earlier promises."""
        if row.kind in ("dependency", "outage", "limit", "in_order", "backfilled", "planned", None):
            # A job that was not shown to the dispatcher gets another promise, and one that started
            # and lost a node.
            self._promises.pop(row.job_id, None)
        if row.kind == "dependency":
            return self._is_dependency(row)
        if row.kind == "outage":
            return self._are_outages(row)
        if row.kind == "limit":
            return row.detail in self._limits or self._came_too_late(row)
        if not row.detail or (row.kind, row.detail) in _LITERAL:
            return True
        if row.kind not in ("no_room", "reserved_for", "behind", "beyond_depth"):
            return False
        return all(self._is_part(row, part) for part in row.detail.split("; "))

    def _is_part(self, row: ReasonRow, part: str) -> bool:
        """Return True for a declared shared resource, or the one promise of the job."""
        shared, promise = _SHARED.fullmatch(part), _PROMISE.fullmatch(part)
        if shared is not None:
            return row.kind == "no_room" and shared[1] in self._resources
        if promise is None or self._promises.setdefault(row.job_id, part) != part:
            return False
        return row.time is None or int(promise[1]) < row.time

    def _is_dependency(self, row: ReasonRow) -> bool:
        place = self._place[row.job_id]
        if row.job not in self._trace.after[place]:
            return False
        think = _THINK.fullmatch(row.detail)
        if think is None:
            return not row.detail
        # Of a job that was rejected, when it left is not recorded.
        until, end = int(think[1]), self._ends.get(row.job)
        return until > row.now and (
            end is None or until == end + int(self._trace.think_time[place])
        )

    def _are_outages(self, row: ReasonRow) -> bool:
        """Return True for outages that are there, or come before the job's predicted end."""
        end = row.now + self._predicted.get(row.job_id, 2**62)
        labels = dict.fromkeys(
            outage.label for outage in self._outages if outage.start < end and outage.end > row.now
        )
        found = _OUTAGES.fullmatch(row.detail)
        if found is None:
            return False
        names = found[1].split(", ")
        more = int(found[2] or 0)
        return (
            labels.keys() >= set(names)
            and len(names) + more <= len(labels)
            and (not more or len(names) == _SHOWN_OUTAGES)
        )

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
        return end == int(goes[3]) and any(
            one.start == int(goes[2]) for one in self._outages_of(goes[1])
        )

    def _outages_of(self, name: str) -> Iterator[Outage]:
        """Yield the outages of a node."""
        node = self._nodes.get(name)
        return (outage for outage in self._outages if node in outage.nodes)


_STARTS = ("in_order", "backfilled", "planned")
_WAITS = (
    "no_room",
    "reserved_for",
    "behind",
    "beyond_depth",
    "solver_postponed",
    "not_planned",
    "limit",
    "dependency",
    "outage",
    "recorded_later",
)
_NAME_A_WAITING_JOB = ("reserved_for", "behind", "backfilled")
_WITHOUT_TIME = ("in_order", "backfilled", "limit", "dependency", "outage", None)
_NAME_A_JOB = (*_NAME_A_WAITING_JOB, "dependency")


def check_reasons(
    run: RunDirectory,
    trace: TraceColumns,
    attempts: RunColumns,
    rounds: RoundColumns,
    details: ReasonDetails | None = None,
) -> Iterator[Check]:
    """Yield the check of the rows of `reasons.parquet`, if the run has them.

    The audit cannot tell whether a reason is the true one. A reason to start or to wait belongs to
    a job that does, in a round of that time; jobs that are named must be in the trace. With
    `details`, all reasons are those of hpcsched: each job has one from its first round on, and
    each start has one.

    Parameters
    ----------
    details
        Test of details; None where a plugin may state any.
    """
    if not (run.path / REASONS).is_file():
        return
    names = ReasonRow._fields[:-1]
    table = run.reasons.read(*names)
    check = Check("reasons are of jobs that were there, in rounds that were held", table.num_rows)
    if details is None:
        check.notes.append("details of reasons were not checked: a plugin may state any")
    told = _Told(check, trace, attempts, rounds, details, partial=run.partial)
    for values in zip(*(table[name].to_pylist() for name in names), strict=True):
        told.check_row(ReasonRow(*values))
    if details is not None:
        told.check_presence()
    yield check


class _Told:
    """The rows so far, and starts and submissions that they are held against."""

    def __init__(
        self,
        check: Check,
        trace: TraceColumns,
        attempts: RunColumns,
        rounds: RoundColumns,
        details: ReasonDetails | None,
        *,
        partial: bool,
    ) -> None:
        self._check, self._rounds, self._details = check, rounds, details
        self._attempts, self._partial = attempts, partial
        jobs = zip(trace.job_id.tolist(), trace.submit_time.tolist(), strict=True)
        self._submitted: dict[int, int] = dict(jobs)
        self._starts: dict[int, set[int]] = {}
        for row in np.flatnonzero(attempts.ran).tolist():
            start = int(attempts.start_time[row])
            self._starts.setdefault(int(attempts.job_id[row]), set()).add(start)
        self._last_round = 1
        self._first: dict[int, int] = {}
        self._before: dict[int, ReasonRow] = {}
        self._told_starts: set[tuple[int, int]] = set()

    def check_row(self, row: ReasonRow) -> None:
        """Check one row against the round, the jobs and the row of the same job before it."""
        check, rounds = self._check, self._rounds
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
        mine = self._starts.get(job_id, set())
        if kind in _STARTS:
            self._told_starts.add((job_id, done))
            if done not in mine and not self._partial:
                check.found(f"{where}: kind: {kind}, but the job did not start at {done}")
        elif kind is not None and kind not in _WAITS:
            check.found(f"{where}: kind: expected a known one, found {kind!r}")
        elif mine and done > max(mine):
            check.found(f"{where}: expected a job that waited, found it started at {max(mine)}")
        if self._details is not None and known:
            self._check_words(where, row._replace(done=done), self._details)
        self._first.setdefault(job_id, number)
        self._before[job_id] = row

    def _check_words(self, where: str, row: ReasonRow, details: ReasonDetails) -> None:
        """Check what belongs to the kind of a reason of hpcsched: job, time and detail."""
        check, kind, other = self._check, row.kind, row.job
        if kind in _NAME_A_WAITING_JOB and other is not None:
            began = max(self._starts.get(other, {row.done}))
            if self._submitted.get(other, 0) > row.now or began < row.done or other == row.job_id:
                check.found(f"{where}: job: expected one that waited, found {other}")
        if other is not None and kind not in _NAME_A_JOB:
            check.found(f"{where}: job: expected none, found {other}")
        if kind in _WITHOUT_TIME or kind == "planned":
            expected = row.now if kind == "planned" else None
            if row.time != expected:
                check.found(f"{where}: time: expected {expected}, found {row.time}")
        if not details.may_be(row):
            check.found(f"{where}: detail: expected one of {kind}, found {row.detail!r}")
        before = self._before.get(row.job_id)
        if before is not None and before.round == row.round:
            check.found(f"{where}: expected one reason in a round, found another")
        if before is None or kind in _STARTS:
            return
        told_again = before._replace(round=0, now=0, time=None, done=0) == row._replace(
            round=0, now=0, time=None, done=0
        )
        if told_again and (row.time is None or before.time is not None):
            check.found(f"{where}: expected another reason than in round {before.round}")

    def check_presence(self) -> None:
        """Check that each job has a reason from its first round on, and each start has one."""
        rounds, attempts = self._rounds, self._attempts
        for row in np.flatnonzero(attempts.ran).tolist():
            start = int(attempts.start_time[row]), int(attempts.job_id[row])
            if start[::-1] not in self._told_starts:
                self._check.found(f"job {start[1]}: expected a reason for its start at {start[0]}")
        for job_id, number in self._first.items():
            submitted = self._submitted.get(job_id)
            if submitted is None:
                continue
            expected = int(np.searchsorted(rounds.now, submitted)) + 1
            if number != expected:
                self._check.found(
                    f"job {job_id}: expected its first reason in round {expected}, found it in"
                    f" round {number}"
                )
