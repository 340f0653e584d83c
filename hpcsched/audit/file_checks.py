"""Checks of the manifest, of hashes, and of the files of observers."""

import json
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import repeat
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from hpcsched.audit.columns import AuditedRun
from hpcsched.audit.violations import Check, rule
from hpcsched.runs.files import EVENTS, JOBS, KNOWN, OPTIONAL, REASONS, ROUNDS, TRACE_ANSWERS, USAGE
from hpcsched.runs.manifest import (
    content_sha256,
    file_hashes,
    keeps_answers,
    package_versions,
    sha256,
)
from hpcsched.runs.solver_rounds import lost_in_words
from hpcsched.runs.tables import ParquetTable, lost_calls

_VERSION = re.compile(r"\d+(\.\d+)*([-.+]?[A-Za-z0-9]+)*")
_WRITER = re.compile(r"version (\d+\.\d+\.\d+)")
_LEFT_BEHIND = ("waiting", "running", "not_yet_submitted")


@rule()
def files(check: Check, at: AuditedRun) -> None:
    """Check that every file of the directory is as it was when the run ended, by its SHA-256."""
    recorded, found = at.run.manifest.files, file_hashes(at.run.path)
    for name in sorted({*recorded, *found}):
        if name in recorded and name in found:
            check.expect(f"SHA-256 of {name}", recorded[name], found[name])
        elif name in recorded:
            check.expect(f"{name} is in the directory", True, False)
        elif name in (*KNOWN, *OPTIONAL):
            check.expect(f"{name} has its SHA-256 in the manifest", True, False)
        else:
            check.notes.append(f"{name} was put there after the run")


@rule()
def trace_files(check: Check, at: AuditedRun) -> None:
    """Check that the trace is the one that was run.

    Files are compared by SHA-256 and size.

    Answers of programs are those that the run kept; if it kept none, they are asked for again.
    """
    recorded = {file.path: file for file in at.run.manifest.trace_files}
    found = [(str(path), sha256(path), path.stat().st_size, False) for path in at.source.files]
    for name, content in at.answers:
        found.append((name, content_sha256(content), len(content), True))
    check.expect("number of trace files", len(at.run.manifest.trace_files), len(found))
    for name, digest, size, is_answer in found:
        of_run = recorded.get(name)
        check.expect(f"SHA-256 of {name}", of_run and of_run.sha256, digest)
        if is_answer and keeps_answers(at.run.path):
            check.notes.append(f"{name} was read from {TRACE_ANSWERS}, and not asked for again")
        elif is_answer and of_run is not None and of_run.sha256 != digest:
            check.notes.append(
                f"{name} gives another answer than in the run, which kept no copy: the checks of"
                " jobs compare with the present answer"
            )
        if of_run is not None and of_run.sha256 == digest:
            check.expect(f"bytes of {name}", size, of_run.bytes)
            check.expect(f"{name} is the answer of a program", is_answer, of_run.answer)
    for file in at.run.manifest.trace_files:
        check.expect(f"{file.path} changed while the run went on", False, file.changed)


@rule()
def manifest(check: Check, at: AuditedRun) -> None:
    """Check that the manifest agrees with the scenario, the trace and the files beside it."""
    run, stated, declared = at.run, at.run.manifest, at.declared
    check.expect("scenario", declared.name, stated.scenario)
    check.expect("seed", declared.seed, stated.seed)
    check.expect("plugins", sorted(declared.distributions), sorted(stated.plugins))
    if not at.partial:
        check.expect("trace_comments", list(at.source.comments), stated.trace_comments)
        check.expect("error", None, stated.error)
    # The names, not the numbers: a run may be audited with other versions installed.
    check.expect("versions", sorted(package_versions()), sorted(stated.versions))
    for name, version in {**stated.versions, **stated.plugins}.items():
        check.expect(f"version of {name}: {version!r}", True, bool(_VERSION.fullmatch(version)))
    own = stated.versions.get("hpcsched")
    check.expect("plugins.hpcsched", own, stated.plugins.get("hpcsched", own))
    # Parquet names a release by three numbers, without local suffixes.
    pyarrow = ".".join(stated.versions.get("pyarrow", "").split(".")[:3])
    for name in (JOBS, ROUNDS):
        written_by = _WRITER.search(pq.read_metadata(run.path / name).created_by or "")
        if written_by is not None:
            check.expect(f"pyarrow that wrote {name}", pyarrow, written_by[1])
    because = stated.not_reproducible_because
    if not any(file.changed for file in stated.trace_files):
        lost = lost_in_words(sum(lost_calls(part["solver"]) for part in run.rounds.parts("solver")))
        expected = [*declared.not_reproducible, *([] if lost is None else [lost])]
        check.expect("not_reproducible_because", expected, because)
    check.expect("reproducible", not because, stated.reproducible)
    check.expect("a platform", True, bool(stated.platform))
    processors = stated.cpu_count is None or stated.cpu_count > 0
    check.expect("at least one processor", True, processors)
    started, finished = _instant(stated.started), _instant(stated.finished)
    for name in ("started", "finished"):
        text = getattr(stated, name)
        check.expect(f"{name}: {text!r}: an instant in UTC", True, _instant(text) is not None)
    if started and finished and finished < started:
        check.notes.append(
            f"it finished at {finished}, before it started at {started}: its machine's clock was"
            " set back, or one of the two was changed"
        )
    left = [key for key in _LEFT_BEHIND if key in run.summary["jobs"]]
    expected = list(_LEFT_BEHIND) if at.partial else []
    check.expect(f"jobs left in a run that is {stated.status}", expected, left)


def _instant(text: str | None) -> datetime | None:
    """Parse an instant in UTC; None if the text is none."""
    try:
        instant = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return instant if instant.utcoffset() == timedelta(0) else None


def _observed(at: AuditedRun) -> list[tuple[str, bool]]:
    """Return the files of observers that are declared or recorded, and whether one is declared."""
    pairs = {"event-log": EVENTS, "reasons": REASONS, "cpu-memory": USAGE}
    found = [(name, observer in at.declared.observers) for observer, name in pairs.items()]
    # Files that came later are noted with the hashes.
    return [(name, own) for name, own in found if own or name in at.run.manifest.files]


@rule(_observed)
def observer_files(check: Check, at: AuditedRun) -> None:
    """Check that files of observers are those of the scenario's observers."""
    for name, declared in _observed(at):
        check.expect(f"{name} is there", declared, (at.run.path / name).is_file())


@rule(lambda at: (at.run.path / USAGE).is_file())
def usage(check: Check, at: AuditedRun) -> None:
    """Check that the rows of usage.parquet are those of the rounds."""
    rounds = at.rounds
    columns = {"round": rounds.round, "now": rounds.now, "queued": rounds.queued}
    table = ParquetTable(at.run.path / USAGE).read(*columns)
    check.expect(f"rows of {USAGE}", len(rounds.now), len(table))
    check.looked_at += len(table)
    both = min(len(rounds.now), len(table))
    for name, expected in columns.items():
        found, rows = table[name].to_numpy()[:both], np.arange(1, both + 1)
        check.differ("{}, round {}: {}", expected[:both], found, USAGE, rows, name)
    check.notes.append("CPU times and memory were not checked: they follow from nothing")


@rule(lambda at: (at.run.path / EVENTS).is_file())
def event_log(check: Check, at: AuditedRun) -> None:
    """Check that the log of events is that of the jobs and rounds, in order of time.

    The file is `events.jsonl`.

    Submissions are in the order of the trace, ends in that of `jobs.parquet`, losses in that of
    `interruptions.parquet`. A round follows the starts and rejections of its decision.
    """
    log = _Log(check, at)
    with (at.run.path / EVENTS).open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            log.read(f"{EVENTS}, line {number}", line)
    log.end(at.run.summary["jobs"] if at.partial else {})


_Event = dict[str, Any]
_LEFT = ("completed", "killed", "failed", "preempted", "withdrawn", "rejected")


class _Log:
    """The events so far, and those that follow from the other files, by kind and in order."""

    def __init__(self, check: Check, at: AuditedRun) -> None:
        self._check, self._attempts, self._rejected_by = check, at.attempts, at.jobs.rejected_by
        run, trace, lost, rounds = at.attempts, at.trace, at.lost, at.rounds
        # Rows of lost attempts lie behind those of `jobs.parquet`.
        self._rows = {job_id: row for row, job_id in enumerate(at.jobs.job_id.tolist())}
        self._first_place = np.concatenate(([0], np.cumsum(run.places))).tolist()
        self._starts: dict[int, list[int]] = {}
        ran = np.flatnonzero(run.ran)
        for row in ran[np.argsort(-run.start_time[ran], kind="stable")].tolist():
            self._starts.setdefault(int(run.job_id[row]), []).append(row)
        # A submission has also the prediction, of those jobs that have a row.
        self._expected = {
            "submitted": _events(
                time=trace.submit_time,
                event="submitted",
                job_id=trace.job_id,
                units=trace.units,
            ),
            "left": _events(time=at.jobs.left_at, event=at.jobs.state, job_id=at.jobs.job_id),
            "interrupted": _events(
                time=lost.end_time[~lost.suspended],
                event="interrupted",
                job_id=lost.job_id[~lost.suspended],
                requeued=lost.requeued[~lost.suspended],
            ),
            "round": _events(
                time=rounds.done,
                event="round",
                round=rounds.round,
                queued=rounds.queued,
                started=rounds.started,
                waiting=rounds.waiting,
            ),
        }
        self._decided = _events(
            now=rounds.now,
            running=rounds.running,
            started=rounds.started,
            rejected=rounds.rejected,
        )
        self._time = -1
        self._previous: _Event = {}
        self._waiting: set[int] = set()
        self._running: set[int] = set()
        # Numbers of jobs that started, and that the dispatcher rejected, since the last round.
        self._started = self._dismissed = 0
        self._interrupted, self._preempts = 0, at.preemption is not None

    def read(self, where: str, line: str) -> None:
        """Check one line, and that its job was waiting or running as the event needs it to be."""
        try:
            event = json.loads(line)
            kind, time, job_id = event["event"], event["time"], event.get("job_id")
            late = kind != "rejected" and time < self._time
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._check.found(f"{where}: expected an event with a time, found {line[:80]!r}")
            return
        expected = self._start(event) if kind == "started" else self._next(kind)
        if kind == "submitted" and expected is not None:
            row = self._rows.get(expected["job_id"])
            # A job that a partial run left in the system: no other file has its prediction.
            predicted = event.get("predicted_run_time")
            if row is not None:
                predicted = int(self._attempts.predicted_run_time[row])
            expected["predicted_run_time"] = predicted
        # As text: `true`, `1` and `1.0` are equal in Python.
        if expected is None or _text(expected) != _text(event):
            self._check.expect(where, _text(expected), _text(event))
            return
        self._check.looked_at += 1
        if late:
            self._check.found(f"{where}: time: expected at least {self._time}, found {time}")
        if kind != "rejected":
            self._time = time
        self._follow(where, event, job_id)
        self._previous = event

    def end(self, left: dict[str, int]) -> None:
        """Check that no event is missing, and how many jobs are left, which a partial run tells."""
        for kind in ("left", "interrupted", "round", *(() if left else ("submitted",))):
            missing = self._next(kind)
            self._check.looked_at += 1
            if missing is not None:
                self._check.found(f"{EVENTS}: expected {_text(missing)}, found no such line")
        for name, jobs in (("waiting", self._waiting), ("running", self._running)):
            self._check.expect(f"jobs {name} at the end of {EVENTS}", left.get(name, 0), len(jobs))

    def _next(self, kind: Any) -> _Event | None:
        """Return the event of a kind that comes next; None after the last one."""
        return next(self._expected.get("left" if kind in _LEFT else str(kind), iter(())), None)

    def _follow(self, where: str, event: _Event, job_id: Any) -> None:
        """Move the job of an event between the sets of waiting and running jobs."""
        kind = event["event"]
        if kind == "round":
            decided = next(self._decided)
            self._check.expect(f"{where}: starts before it", decided["started"], self._started)
            rejected = decided["rejected"]
            self._check.expect(f"{where}: rejections before it", rejected, self._dismissed)
            self._check.expect(f"{where}: waiting jobs", event["waiting"], len(self._waiting))
            # How many ran before it is known as of the request, and holds if that was just now.
            if decided["now"] == event["time"]:
                here = len(self._running) - self._started
                # Some of those that were preempted may have run until the round.
                if not here < decided["running"] <= here + self._interrupted:
                    told = f"{where}: jobs running before it"
                    self._check.expect(told, decided["running"], here)
            self._interrupted = 0
            self._started = self._dismissed = 0
        elif kind == "submitted":
            self._waiting.add(job_id)
        # The attempt of such a job has ended with the event `interrupted` before.
        elif kind not in ("failed", "preempted"):
            self._move(where, event, job_id)

    def _move(self, where: str, event: _Event, job_id: int) -> None:
        kind = event["event"]
        waits = kind in ("started", "rejected", "withdrawn")
        before = self._waiting if waits else self._running
        if job_id not in before:
            state = "waiting" if waits else "running"
            self._check.found(f"{where}: expected job {job_id} to be {state}, found it was not")
        before.discard(job_id)
        if kind == "started":
            self._running.add(job_id)
            self._started += 1
        elif kind == "interrupted":
            self._interrupted += self._preempts
            if event["requeued"]:
                self._waiting.add(job_id)
        elif kind == "rejected":
            by = self._rejected_by[self._rows[job_id]]
            self._dismissed += by == "dispatcher"
            at_submission = by not in ("dispatcher", "used_up_limit")
            if at_submission and self._previous.get("job_id") != job_id:
                self._check.found(f"{where}: expected behind the submission of job {job_id}")

    def _start(self, event: _Event) -> _Event | None:
        """Return the start that a job has next; as it is, one of a job that is still running."""
        job_id = event.get("job_id")
        if isinstance(job_id, int) and job_id in self._waiting and job_id not in self._rows:
            return event
        rows = self._starts.get(job_id) if isinstance(job_id, int) else None
        if not rows:
            return None
        row = rows.pop()
        places = slice(*self._first_place[row : row + 2])
        return {
            "time": int(self._attempts.start_time[row]),
            "event": "started",
            "job_id": job_id,
            "nodes": self._attempts.node[places].tolist(),
            "node_units": self._attempts.node_units[places].tolist(),
        }


def _events(**columns: Any) -> Iterator[_Event]:
    """Yield an event for each row of some columns; one of them may be a constant."""
    lists = {k: repeat(v) if isinstance(v, str) else v.tolist() for k, v in columns.items()}
    return (dict(zip(lists, values, strict=True)) for values in zip(*lists.values(), strict=False))


def _text(event: object) -> str:
    """Return an event as text with keys in alphabetical order."""
    return json.dumps(event, sort_keys=True)
