"""Why one job of a run started when it did, put together from recorded reasons and job records."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.dispatching.decision_reasons import STARTS, ReasonKind
from hpcsched.report.figures.dispatcher_choices import ChosenFrom, choice_at, choices_of
from hpcsched.results.directory import RunDirectory
from hpcsched.results.files import problem
from hpcsched.results.reasons import ReasonRow, jobs_that_speak_of, reasons_of
from hpcsched.workload.job import Job

_FACTS = (
    "job_id",
    "submit_time",
    "requested_time",
    "units",
    "unit_request",
    "exclusive",
    "scatter",
    "predicted_run_time",
    "state",
    "rejected_by",
    "start_time",
    "end_time",
    "requeues",
    "lost_time",
)


class JobFacts(NamedTuple):
    """What is known of a job beside its reasons; times in seconds.

    `unit_request` is by resource type; `exclusive` and `scatter` are as in `Job`. `state` is None
    for a job that had not left the system, of which only the trace is known. `rejected_by` says
    what rejected a job, if it was. Start and end are of the last attempt, before which `requeues`
    others were lost, after `lost_time`.
    """

    job_id: int
    submit_time: int
    requested_time: int
    units: int
    unit_request: Mapping[str, int]
    exclusive: bool = False
    scatter: bool = False
    predicted_run_time: int | None = None
    state: str | None = None
    rejected_by: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    requeues: int = 0
    lost_time: int = 0


def traced_facts(job: Job, resource_types: Sequence[str]) -> JobFacts:
    """Return what a trace tells of a job."""
    request = dict(zip(resource_types, job.unit_request, strict=True))
    return JobFacts(
        job.job_id,
        job.submit_time,
        job.requested_time,
        job.units,
        request,
        job.exclusive,
        job.scatter,
    )


FromTrace = Callable[[Collection[int]], Mapping[int, JobFacts]]
"""Returns what the run's trace tells of some jobs, by job number, as far as it can be read."""


class Wait(NamedTuple):
    """A reason for which a job waited: from a round on, at `now`, until another one, at `until`.

    `until` is None where the run was broken off. `kind` is None where the dispatcher gave no
    reason. The rest is that of `Reason`, as it was first given.
    """

    round: int
    now: int
    until: int | None
    kind: ReasonKind | None
    job: int | None
    time: int | None
    detail: str


class HeldUp(NamedTuple):
    """A job that waited because of another one: since when, for how long, in seconds, and why."""

    job_id: int
    since: int
    seconds: int
    kind: ReasonKind


class Overtaking(NamedTuple):
    """A job that was backfilled past another one, and when."""

    job_id: int
    now: int


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a job started when it did, or has not; and what it held up.

    `facts` is None for a job that had not left the system and of which the trace does not tell.
    `started` is when it started, if it did; `start` the reason for it, None if none was given.
    `held_up` are jobs whose reason named this one, in the order in which it first did; `passed` the
    jobs that had been submitted before and started after it; `passed_by` those that were backfilled
    past it. `others` has the facts of the jobs that are named. `chosen` is the dispatcher that
    started it, where the run's chooses between several (`hyper`).
    """

    run: str
    status: str
    job_id: int
    facts: JobFacts | None
    started: int | None
    waits: tuple[Wait, ...]
    start: ReasonRow | None
    held_up: tuple[HeldUp, ...]
    passed: tuple[int, ...]
    passed_by: tuple[Overtaking, ...]
    others: Mapping[int, JobFacts]
    chosen: ChosenFrom | None = None


def explain_job(run: RunDirectory, job_id: int, from_trace: FromTrace) -> Explanation:
    """Return why a job of a run started when it did.

    `from_trace` is asked about jobs that had not left the system when the run was broken off.
    Raises InputError where no reasons were recorded, a file is damaged, or the run knows no such
    job.
    """
    reasons = run.reasons
    naming = [name for name in jobs_that_speak_of(reasons, job_id) if name != job_id]
    rows = reasons_of(reasons, {job_id, *naming})
    own = rows.pop(job_id)
    wanted = {job_id, *naming, *(row.job for row in own if row.job is not None)}
    facts = _facts(run, wanted)
    if run.partial and wanted - set(facts):
        facts |= from_trace(wanted - set(facts))
    if not own and job_id not in facts:
        raise _unknown(run, job_id)

    job = facts.pop(job_id, None)
    rounds = _Rounds(run)
    start = own[-1] if own and own[-1].kind in STARTS else None
    started = None if job is None else job.start_time
    if started is None and start is not None:
        started = rounds.carried_out(start.round)
    naming_rows = [rows[name] for name in naming]
    return Explanation(
        run.manifest.scenario,
        run.manifest.status,
        job_id,
        job,
        started,
        tuple(_waits(own, job, started, rounds)),
        start,
        tuple(_held_up(naming_rows, job_id, facts, rounds.last)),
        () if job is None or started is None else _passed(run, job.submit_time, started),
        tuple(
            Overtaking(row.job_id, row.now)
            for others in naming_rows
            for row in others
            if row.kind == "backfilled" and row.job == job_id
        ),
        facts,
        None if start is None else choice_at(choices_of(run), start.now),
    )


class _Rounds:
    """When the rounds of a run were, and when their decisions were carried out, in seconds."""

    def __init__(self, run: RunDirectory) -> None:
        table = run.rounds.read("round", "now", "latency")
        self._table = table
        ends = pc.add(table["now"], table["latency"])
        self._ends: pa.ChunkedArray = ends
        self.last: int = pc.max(ends).as_py() or 0

    def carried_out(self, number: int) -> int:
        """Return when the decision of a round was carried out."""
        at = pc.index(self._table["round"], number).as_py()
        return int(self._ends[at].as_py())

    def first_from(self, time: int) -> tuple[int, int] | None:
        """Return number and time of the first round at or after a time, None if there is none."""
        later = self._table.filter(pc.greater_equal(self._table["now"], time))
        if not later.num_rows:
            return None
        return later["round"][0].as_py(), later["now"][0].as_py()


def _facts(run: RunDirectory, job_ids: Collection[int]) -> dict[int, JobFacts]:
    """Return what `jobs.parquet` tells of some jobs, by job number."""
    wanted = pa.array(sorted(job_ids), pa.int64())
    found = {}
    for part in run.all_jobs.parts(*_FACTS):
        for row in part.filter(pc.is_in(part["job_id"], value_set=wanted)).to_pylist():
            found[row["job_id"]] = JobFacts(**row)
    return found


def _unknown(run: RunDirectory, job_id: int) -> Exception:
    numbers = run.all_jobs.read("job_id")["job_id"]
    if not len(numbers):
        return problem(
            "unknown-job", run.path, f"there is no job {job_id}: no job has left the run"
        )
    bounds = pc.min_max(numbers).as_py()
    message = (
        f"there is no job {job_id}; the run has {len(numbers)} jobs, with numbers from"
        f" {bounds['min']} to {bounds['max']}"
    )
    return problem("unknown-job", run.path, message)


def _waits(
    own: Sequence[ReasonRow], job: JobFacts | None, started: int | None, rounds: _Rounds
) -> Iterable[Wait]:
    """Yield the reasons for which a job waited, also that none was given."""
    if job is not None and job.state != "rejected":
        first = rounds.first_from(job.submit_time)
        if first is not None and (not own or own[0].round > first[0]):
            until = own[0].now if own else started
            # One that starts in its first round has not waited for anything.
            if until is None or until > first[1]:
                yield Wait(*first, until, None, None, None, "")
    for k, row in enumerate(own):
        if row.kind not in STARTS:
            until = own[k + 1].now if k + 1 < len(own) else started
            yield Wait(row.round, row.now, until, row.kind, row.job, row.time, row.detail)


def _held_up(
    histories: Iterable[Sequence[ReasonRow]],
    job_id: int,
    facts: Mapping[int, JobFacts],
    last: int,
) -> Iterable[HeldUp]:
    """Yield the jobs that waited because of a job, once for each kind of reason."""
    for rows in histories:
        found: dict[ReasonKind, HeldUp] = {}
        for k, row in enumerate(rows):
            if row.job != job_id or row.kind is None or row.kind in STARTS:
                continue
            known = facts.get(row.job_id)
            until = last if known is None or known.start_time is None else known.start_time
            if k + 1 < len(rows):
                until = rows[k + 1].now
            before = found.get(row.kind)
            since, seconds = (row.now, 0) if before is None else (before.since, before.seconds)
            found[row.kind] = HeldUp(row.job_id, since, seconds + until - row.now, row.kind)
        yield from found.values()


def _passed(run: RunDirectory, submitted: int, started: int) -> tuple[int, ...]:
    """Return the jobs that were submitted before one that was then and started after it."""
    table = run.jobs.read("job_id", "submit_time", "start_time")
    earlier = pc.less(table["submit_time"], submitted)
    later = pc.greater(table["start_time"], started)
    passed = table.filter(pc.and_(earlier, later)).sort_by(
        [("submit_time", "ascending"), ("job_id", "ascending")]
    )
    return tuple(passed["job_id"].to_pylist())
