"""The explanation of a job's start time, from recorded reasons, job records and the trace."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.dispatching.decision import STARTS, ReasonKind
from hpcsched.errors import HpcschedError
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.reason_records import ReasonRow, jobs_that_speak_of, reasons_of
from hpcsched.whole_files import problem
from hpcsched.workload.job import Job
from hpcsched.workload.trace_calendar import NO_DATES, Calendar


class JobFacts(NamedTuple):
    """Properties and times of a job; times in seconds.

    Attributes
    ----------
    unit_request
        Amount per unit by resource type.
    predicted_run_time
        Run time that the dispatcher planned with; None if unknown.
    state
        How the job left the system; None if it had not.
    rejected_by
        Rule that rejected it; None if none did.
    requeues, lost_time
        Number and run time of earlier attempts, lost to outages.
    """

    job_id: int
    submit_time: int
    requested_time: int
    units: int
    unit_request: Mapping[str, int]
    exclusive: bool = False
    one_unit_per_node: bool = False
    predicted_run_time: int | None = None
    state: str | None = None
    rejected_by: str | None = None
    start_time: int | None = None
    end_time: int | None = None
    requeues: int = 0
    lost_time: int = 0


def traced_facts(job: Job, resource_types: Sequence[str]) -> JobFacts:
    """Return the properties of a job of the trace."""
    request = dict(zip(resource_types, job.unit_request, strict=True))
    return JobFacts(
        job.job_id,
        job.submit_time,
        job.requested_time,
        job.units,
        request,
        job.exclusive,
        job.one_unit_per_node,
    )


FromTrace = Callable[[Collection[int]], Mapping[int, JobFacts]]
"""Function from job numbers to the properties in the trace; unreadable jobs are left out."""


class Wait(NamedTuple):
    """A reason for which a job waited, and for how long.

    Attributes
    ----------
    round, now
        Number and second of the round that gave it first.
    until
        Second of the next reason, or of the start; None for a run that was interrupted.
    kind
        Kind of the reason; None if the dispatcher gave none.
    """

    round: int
    now: int
    until: int | None
    kind: ReasonKind | None
    job: int | None
    time: int | None
    detail: str


class HeldUp(NamedTuple):
    """A job that waited because of another.

    Attributes
    ----------
    since, seconds
        Beginning and length of the wait, in seconds.
    """

    job_id: int
    since: int
    seconds: int
    kind: ReasonKind


class Overtaking(NamedTuple):
    """A backfilled job that passed another.

    Attributes
    ----------
    now
        Second of its start.
    """

    job_id: int
    now: int


class ChosenFrom(NamedTuple):
    """A dispatcher that decides from a round on.

    Attributes
    ----------
    round, now
        Number and simulated second of the round.
    """

    round: int
    now: int
    chosen: str
    because: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """The start of a job: the reasons for it, and its effects on other jobs.

    Attributes
    ----------
    facts
        Its properties; None if neither the records nor the trace have it.
    started
        Start time in seconds; None if it has not started.
    start
        Reason for which it started; None if none was given.
    held_up
        Jobs whose reason named this one, by the time of the first naming.
    passed
        Jobs that were submitted before it and started after it.
    chosen
        Dispatcher that started it, if the run's dispatcher chooses between several (`hyper`).
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
    calendar: Calendar = NO_DATES

    def __str__(self) -> str:
        # Rendering imports this module.
        from hpcsched.explain.explanation_rendering import explanation_text  # noqa: PLC0415

        return explanation_text(self)


def explain_job(run: RunDirectory, job_id: int, from_trace: FromTrace) -> Explanation:
    """Return the explanation of a job's start time.

    Parameters
    ----------
    from_trace
        Function that returns the properties of jobs that had not left when the run was interrupted.
    """
    reasons = run.reasons
    # Names first, then their rows: the file of reasons may be too large to hold.
    naming = [name for name in jobs_that_speak_of(reasons, job_id) if name != job_id]
    rows = reasons_of(reasons, {job_id, *naming})
    own = rows.pop(job_id)
    wanted = {job_id, *naming, *(row.job for row in own if row.job is not None)}
    facts = _facts(run, wanted)
    # Only an interrupted run has jobs that are in no table; reading the trace is dear.
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
        None if start is None else _choice_at(run, start.now),
        run.calendar,
    )


def _choice_at(run: RunDirectory, time: int) -> ChosenFrom | None:
    """Return the choice of the run's dispatcher at a time, if it chooses between several."""
    table = run.rounds.read(*ChosenFrom._fields)
    before = pc.and_(pc.is_valid(table["chosen"]), pc.less_equal(table["now"], time))
    rows = table.filter(before).to_pylist()
    return ChosenFrom(**rows[-1]) if rows else None


class _Rounds:
    """Times of the rounds of a run, and of the execution of their decisions, in seconds."""

    def __init__(self, run: RunDirectory) -> None:
        table = run.rounds.read("round", "now", "latency")
        self._table = table
        ends = pc.add(table["now"], table["latency"])
        self._ends: pa.ChunkedArray = ends
        self.last: int = pc.max(ends).as_py() or 0

    def carried_out(self, number: int) -> int:
        """Return the second at which the decision of a round took effect."""
        at = pc.index(self._table["round"], number).as_py()
        return int(self._ends[at].as_py())

    def first_from(self, time: int) -> tuple[int, int] | None:
        """Return number and time of the first round at or after a time, else None."""
        later = self._table.filter(pc.greater_equal(self._table["now"], time))
        if not later.num_rows:
            return None
        return later["round"][0].as_py(), later["now"][0].as_py()


def _facts(run: RunDirectory, job_ids: Collection[int]) -> dict[int, JobFacts]:
    """Return the properties of jobs in `jobs.parquet`, by job number."""
    # Part by part, since the jobs of a year may not fit into memory.
    wanted = pa.array(sorted(job_ids), pa.int64())
    found = {}
    for part in run.all_jobs.parts(*JobFacts._fields):
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
    """Yield the reasons for which a job waited; also one without a kind where none was given."""
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
            # A job that never started held others up until the run ended.
            until = last if known is None or known.start_time is None else known.start_time
            if k + 1 < len(rows):
                until = rows[k + 1].now
            before = found.get(row.kind)
            since, seconds = (row.now, 0) if before is None else (before.since, before.seconds)
            found[row.kind] = HeldUp(row.job_id, since, seconds + until - row.now, row.kind)
        yield from found.values()


def _passed(run: RunDirectory, submitted: int, started: int) -> tuple[int, ...]:
    """Return the jobs submitted before a job that started after it."""
    table = run.jobs.read("job_id", "submit_time", "start_time")
    earlier = pc.less(table["submit_time"], submitted)
    later = pc.greater(table["start_time"], started)
    passed = table.filter(pc.and_(earlier, later)).sort_by(
        # The number breaks ties, as it does in queues.
        [("submit_time", "ascending"), ("job_id", "ascending")]
    )
    return tuple(passed["job_id"].to_pylist())


def explain_run(run: RunDirectory, job_id: int) -> Explanation:
    """Return the explanation of the start of a job.

    Parameters
    ----------
    run
        A run that recorded reasons.
    job_id
        Number of the job.
    """

    def look_up(job_ids: Collection[int]) -> Mapping[int, JobFacts]:
        try:
            parts = assemble_again(run)
            return {
                job.job_id: traced_facts(job, parts.system.resource_types)
                for job, _ in parts.source.jobs()
                if job.job_id in job_ids
            }
        # The log may have moved since the run; records alone still explain most jobs.
        except HpcschedError:
            return {}

    return explain_job(run, job_id, look_up)
