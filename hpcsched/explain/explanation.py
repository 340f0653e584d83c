"""The explanation of a job's start time, from recorded reasons, job records and the trace."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from hpcsched.dispatching.decision import STARTS, ReasonKind
from hpcsched.errors import HpcschedError
from hpcsched.runs.assembly import assemble_again
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.observers import ReasonRow, jobs_that_speak_of, reasons_of
from hpcsched.runs.tables import ParquetTable
from hpcsched.whole_files import file_error
from hpcsched.workload.trace_calendar import NO_DATES, Calendar

JSON_VERSION = 1
"""Version of the JSON content; it grows when a key changes or goes, not when one is added."""

MOST_REASONS = 40
"""Largest number of reasons in the text; of more, the first and last halves are shown."""
MOST_JOBS = 5
"""Largest number of jobs that a list names."""


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


class Wait(NamedTuple):
    """A reason for which a job waited, and for how long.

    Attributes
    ----------
    round, now
        Number and second of the round that gave it first.
    until
        Second of the next reason, or of the start; None for a run that was interrupted.
    kind
        None if the dispatcher gave no reason.
    """

    round: int
    now: int
    until: int | None
    kind: ReasonKind | None = None
    job: int | None = None
    time: int | None = None
    detail: str = ""


class HeldUp(NamedTuple):
    """A job that waited because of another: from when on, and for how many seconds."""

    job_id: int
    since: int
    seconds: int
    kind: ReasonKind


class Overtaking(NamedTuple):
    """A backfilled job that passed another, and the second of its start."""

    job_id: int
    now: int


class Preempted(NamedTuple):
    """A preemption of a job by another: when, until when it was suspended, and if it was requeued.

    `until` is None for an attempt that was lost.
    """

    by: int
    now: int
    until: int | None
    requeued: bool


class ChosenFrom(NamedTuple):
    """A dispatcher that decides from a round on, and its second."""

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
    preempted: tuple[Preempted, ...] = ()

    def __str__(self) -> str:
        """Return the explanation in plain sentences, one a line."""
        return "\n".join(_Text(self).lines())

    def since_submission(self, now: int) -> int | None:
        """Return the seconds since the submission of the job; None if that is unknown."""
        return None if self.facts is None else now - self.facts.submit_time

    def content(self) -> dict[str, Any]:
        """Return the explanation for JSON: times in seconds, jobs by their numbers."""
        return {
            "version": JSON_VERSION,
            "run": self.run,
            "status": self.status,
            "job_id": self.job_id,
            "job": self.facts and self.facts._asdict(),
            "start_time": self.started,
            "waits": [
                {**wait._asdict(), "since_submission": self.since_submission(wait.now)}
                for wait in self.waits
            ],
            "start": self.start and self.start._asdict(),
            "chosen": self.chosen and self.chosen._asdict(),
            "held_up": [held._asdict() for held in self.held_up],
            "passed": list(self.passed),
            "passed_by": [other._asdict() for other in self.passed_by],
            "preempted": [one._asdict() for one in self.preempted],
            "others": {str(name): other._asdict() for name, other in self.others.items()},
        }


def explain_run(run: RunDirectory, job_id: int) -> Explanation:
    """Return the explanation of a job's start time; the run must have recorded reasons.

    Beside preemption none are.
    """
    naming: list[int] = []
    rows: dict[int, list[ReasonRow]] = {job_id: []}
    if "preemption" not in run.summary:
        # Names first, then their rows: the file of reasons may be too large to hold.
        naming = [name for name in jobs_that_speak_of(run.reasons, job_id) if name != job_id]
        rows = reasons_of(run.reasons, {job_id, *naming})
    own = rows.pop(job_id)
    facts = _facts(run, {job_id, *naming, *(row.job for row in own if row.job is not None)})
    if not own and job_id not in facts:
        first, last = run.all_jobs.bounds("job_id")
        has = f"the run has {run.all_jobs.rows} jobs, with numbers from {first} to {last}"
        message = "no job has left the run" if first is None else has
        raise file_error("unknown-job", run.path, f"there is no job {job_id}: {message}")

    job = facts.pop(job_id, None)
    rounds = run.rounds.read(*ChosenFrom._fields, "latency")
    now, done = rounds["now"].to_pylist(), pc.add(rounds["now"], rounds["latency"]).to_pylist()
    start = own[-1] if own and own[-1].kind in STARTS else None
    started, chosen = None if job is None else job.start_time, None
    passed: tuple[int, ...] = ()
    if start is not None:
        started = done[start.round - 1] if started is None else started
        before = rounds.select(ChosenFrom._fields).slice(0, start.round)
        choices = before.filter(before["chosen"].is_valid()).to_pylist()
        chosen = ChosenFrom(**choices[-1]) if choices else None
    if job is not None and started is not None:
        passed = _passed(run, job.submit_time, started)
    overtaking = [
        Overtaking(row.job_id, row.now)
        for name in naming
        for row in rows[name]
        if row.kind == "backfilled" and row.job == job_id
    ]
    ended = max(done, default=0)
    held_up = [one for name in naming for one in _held_up(rows[name], job_id, facts, ended)]
    return Explanation(
        run.manifest.scenario,
        run.manifest.status,
        job_id,
        job,
        started,
        tuple(_waits(own, job, started, now)),
        start,
        tuple(held_up),
        passed,
        tuple(overtaking),
        facts,
        chosen,
        run.calendar,
        tuple(_preemptions(run, job_id)),
    )


def _preemptions(run: RunDirectory, job_id: int) -> Iterator[Preempted]:
    """Yield the preemptions of a job, in order."""
    if "preemption" not in run.summary:
        return
    columns = ("job_id", "start_time", "end_time", "requeued", "suspended", "preempted_by")
    for part in ParquetTable(run.path / INTERRUPTIONS).parts(*columns):
        for row in part.filter(pc.equal(part["job_id"], job_id)).to_pylist():
            by, suspended = row["preempted_by"], row["suspended"]
            if by is not None:
                now = row["start_time" if suspended else "end_time"]
                until = row["end_time"] if suspended else None
                yield Preempted(by, now, until, row["requeued"])


def _facts(run: RunDirectory, job_ids: Collection[int]) -> dict[int, JobFacts]:
    """Return the properties of jobs, by job number."""
    # Part by part, since the jobs of a year may not fit into memory.
    wanted = pa.array(sorted(job_ids), pa.int64())
    found = {}
    for part in run.all_jobs.parts(*JobFacts._fields):
        for row in part.filter(pc.is_in(part["job_id"], value_set=wanted)).to_pylist():
            found[row["job_id"]] = JobFacts(**row)
    # Only an interrupted run has jobs that are in no table; reading the trace is dear.
    if run.partial and len(found) < len(job_ids):
        # The log may have moved since the run; records alone still explain most jobs.
        with suppress(HpcschedError):
            parts = assemble_again(run)
            for job, _ in parts.source.jobs():
                if job.job_id in job_ids and job.job_id not in found:
                    request = dict(zip(parts.system.resource_types, job.unit_request, strict=True))
                    own = job.job_id, job.submit_time, job.requested_time, job.units, request
                    found[job.job_id] = JobFacts(*own, job.exclusive, job.one_unit_per_node)
    return found


def _waits(
    own: Sequence[ReasonRow], job: JobFacts | None, started: int | None, rounds: Sequence[int]
) -> Iterable[Wait]:
    """Yield the reasons for which a job waited; also one without a kind where none was given.

    `rounds` are the seconds of the rounds of the run.
    """
    if job is not None and job.state != "rejected":
        first = bisect_left(rounds, job.submit_time)
        if first < len(rounds) and (not own or own[0].round > first + 1):
            until = own[0].now if own else started
            # One that starts in its first round has not waited for anything.
            if until is None or until > rounds[first]:
                yield Wait(first + 1, rounds[first], until)
    ends = [*(later.now for later in own[1:]), started] if own else []
    for row, until in zip(own, ends, strict=True):
        if row.kind not in STARTS:
            yield Wait(row.round, row.now, until, row.kind, row.job, row.time, row.detail)


def _held_up(
    rows: Sequence[ReasonRow], job_id: int, facts: Mapping[int, JobFacts], last: int
) -> Iterable[HeldUp]:
    """Return the waits of another job because of a job, one for each kind of reason."""
    found: dict[ReasonKind, HeldUp] = {}
    known = facts.get(rows[0].job_id)
    # A job that never started held others up until the run ended.
    end = last if known is None or known.start_time is None else known.start_time
    for row, until in zip(rows, [*(later.now for later in rows[1:]), end], strict=True):
        if row.job != job_id or row.kind is None or row.kind in STARTS:
            continue
        before = found.get(row.kind, HeldUp(row.job_id, row.now, 0, row.kind))
        found[row.kind] = before._replace(seconds=before.seconds + until - row.now)
    return found.values()


def _passed(run: RunDirectory, submitted: int, started: int) -> tuple[int, ...]:
    """Return the jobs submitted before a job that started after it."""
    table = run.jobs.read("job_id", "submit_time", "start_time")
    earlier = pc.less(table["submit_time"], submitted)
    passed = table.filter(pc.and_(earlier, pc.greater(table["start_time"], started)))
    # The number breaks ties, as it does in queues.
    order = [("submit_time", "ascending"), ("job_id", "ascending")]
    return tuple(passed.sort_by(order)["job_id"].to_pylist())


_WAITING: Mapping[ReasonKind | None, str] = {
    "no_room": "there was no room for it{planned}",
    "reserved_for": "there was room, but to start it would have delayed {other}{planned}",
    "behind": "it was behind {other}, which waited, and which none may pass",
    "beyond_depth": "it came after all reservations had been given out, and had none",
    "solver_postponed": "the plan had it start later{at}, though there may have been room",
    "not_planned": "the plan left it out",
    "limit": "a limit held it back: {detail}",
    "dependency": "it had to wait for {other} to end",
    "recorded_later": "the log has it start later{at}",
    "begin_time": "it asked to wait {detail}",
    "outage": "too few nodes were in service for it: {detail}",
    None: "the dispatcher gave no reason",
}


class _Text:
    """The sentences of an explanation; other jobs are described at their first mention."""

    def __init__(self, explanation: Explanation) -> None:
        self._of, self._time = explanation, explanation.calendar.text
        self._known: set[int] = set()

    def _name(self, job_id: int | None) -> str:
        """Return the name of a job; None is an unknown one."""
        if job_id is None:
            return "another job"
        facts = self._of.others.get(job_id)
        if facts is None or job_id in self._known:
            return f"job {job_id}"
        # Repeating the properties at each mention would bury the reasons.
        self._known.add(job_id)
        time = facts.predicted_run_time or facts.requested_time
        submitted = f"submitted at {self._time(facts.submit_time)}"
        return f"job {job_id} ({_request(facts)}, to run for {time} s, {submitted})"

    def lines(self) -> Iterator[str]:
        """Yield the lines of the explanation."""
        of, chosen = self._of, self._of.chosen
        yield f"job {of.job_id} of the run {of.run} ({of.status})"
        if of.calendar.known:
            yield f"Times are by the clock of the log, {of.calendar.clock}."
        yield from self._account()
        if of.facts is not None and of.facts.state == "rejected":
            yield f"It was rejected ({of.facts.rejected_by}), and never started."
        if of.facts is not None and of.facts.state == "withdrawn":
            yield "It was withdrawn while it waited, and never started."
        if of.waits:
            yield "\nWhy it waited:"
            yield from _shortened([self._wait_line(wait) for wait in of.waits])
            if len(of.waits) > 1:
                yield f"  in all: {_sums(of.waits)}"
        yield "\nHow it started:"
        yield f"  {self._start_line()}"
        if chosen is not None:
            since = f"since round {chosen.round}, at {self._time(chosen.now)}"
            yield f"  {chosen.chosen} decided, {since}: {chosen.because}."
        yield "\nWhat it held up:"
        yield from self._held_up_lines()

    def _account(self) -> Iterator[str]:
        """Yield the request of the job, and its outcome."""
        facts, started = self._of.facts, self._of.started
        if facts is None:
            yield "What it asked for is not known: it had not ended, and the trace does not tell."
            return
        yield f"It asked for {_request(facts)}, for up to {facts.requested_time} s."
        if facts.predicted_run_time is not None:
            yield f"It was predicted to run for {facts.predicted_run_time} s."
        steps = [f"submitted at {self._time(facts.submit_time)}"]
        if started is not None:
            steps.append(f"started at {self._time(started)}")
        if facts.end_time is not None:
            steps.append(f"ended at {self._time(facts.end_time)} ({facts.state})")
        yield f"It was {_listed(steps)}."
        for one in self._of.preempted:
            what = "requeued" if one.requeued else "cancelled"
            if one.until is not None:
                what = f"suspended until {self._time(one.until)}"
            yield f"It was preempted by job {one.by} at {self._time(one.now)}: {what}."
        if facts.requeues:
            seconds = f"{facts.lost_time} s in all"
            yield f"Attempts that were lost before: {facts.requeues}, of {seconds}."
        if started is not None:
            yield f"It waited for {started - facts.submit_time} s."

    def _wait_line(self, wait: Wait) -> str:
        lasted = "" if wait.until is None else f", for {wait.until - wait.now} s"
        at = "" if wait.time is None else f" at {self._time(wait.time)}"
        sentence = _WAITING[wait.kind]
        if wait.kind == "outage" and at:
            sentence = "it had to wait for the end of {detail}{planned}"
        why = sentence.format(
            other=self._name(wait.job) if "{other}" in sentence else "",
            planned=at and f"; a start{at} was planned",
            at=at and f",{at}",
            detail=wait.detail,
        )
        detail = f" ({wait.detail})" if wait.detail and "{detail}" not in sentence else ""
        return f"  {self._when(wait.round, wait.now)}{lasted}: {why}{detail}"

    def _start_line(self) -> str:
        start, started = self._of.start, self._of.started
        if start is None:
            if started is None:
                return "it did not start"
            return f"at {self._time(started)}: {_WAITING[None]}"
        how = "the plan started it then"
        if start.kind == "in_order":
            how = "in order, as nothing that came before it had to wait"
        elif start.kind == "backfilled":
            how = f"backfilled: it passed {self._name(start.job)}, the first that waited"
        detail = f" ({start.detail})" if start.detail else ""
        return f"{self._when(start.round, start.now)}: {how}{detail}"

    def _held_up_lines(self) -> Iterator[str]:
        passed, by = self._of.passed, self._of.passed_by
        reserved = [held for held in self._of.held_up if held.kind == "reserved_for"]
        others = [held for held in self._of.held_up if held.kind != "reserved_for"]
        for held, why in ((reserved, "because of the reservation for it"), (others, "behind it")):
            if held:
                spans = [
                    f"{o.job_id} (from {self._time(o.since)}, for {o.seconds} s)" for o in held
                ]
                yield f"  {_jobs(held)} waited {why}: {_first(spans)}"
        if passed:
            listed = _first(list(map(str, passed)))
            yield f"  it started before {_jobs(passed)} submitted earlier: {listed}"
        if not (self._of.held_up or passed):
            yield "  nothing"
        if by:
            listed = _first([f"{other.job_id} (at {self._time(other.now)})" for other in by])
            yield f"\nWhile it waited, {_jobs(by)} backfilled past it: {listed}"

    def _when(self, number: int, now: int) -> str:
        """Return a time with its round, as text."""
        since = self._of.since_submission(now)
        after = "" if since is None else f" ({since} s after its submission)"
        return f"at {self._time(now)}{after}, round {number}"


def _sums(waits: Sequence[Wait]) -> str:
    """Return the total wait by kind of reason."""
    seconds: Counter[str] = Counter()
    for wait in waits:
        if wait.until is not None:
            seconds[wait.kind or "no reason given"] += wait.until - wait.now
    return ", ".join(f"{kind} {sum_} s" for kind, sum_ in seconds.most_common())


def _request(facts: JobFacts) -> str:
    """Return the request of a job, and its placement rules."""
    amounts = [f"{_amount(amount)} {r}" for r, amount in facts.unit_request.items() if amount]
    units = "1 unit" if facts.units == 1 else f"{facts.units} units"
    request = f"{units} of {_listed(amounts) or 'nothing'}"
    if facts.one_unit_per_node and facts.units > 1:
        request += ", each on a node of its own"
    if facts.exclusive:
        request += ", on nodes shared with no other job"
    return request


def _amount(amount: int) -> str:
    # Whole multiples of these are most likely bytes.
    units = (("TiB", 40), ("GiB", 30), ("MiB", 20))
    whole = (f"{amount >> bits} {unit}" for unit, bits in units if amount % (1 << bits) == 0)
    return next(whole, str(amount))


def _jobs(jobs: Sequence[object]) -> str:
    return "a job" if len(jobs) == 1 else f"{len(jobs)} jobs"


def _listed(parts: Sequence[str]) -> str:
    """Return parts of a sentence as a list: a, b and c."""
    return " and ".join(filter(None, [", ".join(parts[:-1]), *parts[-1:]]))


def _first(parts: Sequence[str]) -> str:
    """Return the first parts, and the number of the others."""
    more = len(parts) - MOST_JOBS
    return ", ".join(parts[:MOST_JOBS]) + (f", and {more} more" if more > 0 else "")


def _shortened(lines: Sequence[str]) -> Sequence[str]:
    """Return the first and the last of too many lines, and the number left out."""
    # The first and the last reasons say most: how the wait began, and how it ended.
    left_out, half = len(lines) - MOST_REASONS, MOST_REASONS // 2
    told = f"  … {left_out} more, which --format json has"
    return lines if left_out <= 0 else [*lines[:half], told, *lines[-half:]]
