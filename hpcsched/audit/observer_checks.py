"""Checks of the files of observers, `events.jsonl` and `usage.parquet` among them."""

import json
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from hpcsched.audit.attempts import LostColumns
from hpcsched.audit.columns import RunColumns, TraceColumns
from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import EVENTS, REASONS, USAGE
from hpcsched.runs.tables import ParquetTable

_Event = dict[str, Any]
_FILES = {"event-log": EVENTS, "reasons": REASONS, "cpu-memory": USAGE}
_LEFT = ("completed", "killed", "failed", "rejected")


def check_observer_files(run: RunDirectory, observers: Collection[str]) -> Iterator[Check]:
    """Yield a check that the files of the scenario's observers are there, and no others."""
    check = Check("files of observers are those of the scenario's observers")
    for observer, name in _FILES.items():
        # Files that came later are noted with the hashes.
        if observer in observers or name in run.manifest.files:
            is_there = (run.path / name).is_file()
            check.expect(f"{name} is there", observer in observers, is_there)
    if check.looked_at:
        yield check


def check_usage(run: RunDirectory, rounds: RoundColumns) -> Iterator[Check]:
    """Yield the check of the rows of `usage.parquet`, if the run has it."""
    path = run.path / USAGE
    if not path.is_file():
        return
    check = Check("the rows of usage.parquet are those of the rounds")
    columns = {"round": rounds.number, "now": rounds.now, "queued": rounds.queued}
    table = ParquetTable(path).read(*columns)
    check.expect("rows of usage.parquet", len(rounds.now), table.num_rows)
    for name, expected in columns.items():
        found = zip(expected.tolist(), table[name].to_pylist(), strict=False)
        for number, (value, other) in enumerate(found, 1):
            check.expect(f"{USAGE}, round {number}: {name}", value, other)
    check.notes.append("CPU times and memory were not checked: they follow from nothing")
    yield check


def check_event_log(
    run: RunDirectory,
    trace: TraceColumns,
    attempts: RunColumns,
    lost: LostColumns,
    rounds: RoundColumns,
) -> Iterator[Check]:
    """Yield the check of `events.jsonl`, if the run has it.

    Submissions are in the order of the trace, ends in that of `jobs.parquet`, losses in that of
    `interruptions.parquet`. A round follows the starts and rejections of its decision.
    """
    path = run.path / EVENTS
    if not path.is_file():
        return
    check = Check("the log of events is that of the jobs and rounds, in order of time")
    log = _Log(check, trace, attempts, lost, rounds)
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            log.read(f"{EVENTS}, line {number}", line)
    log.end(run.summary["jobs"] if run.partial else {})
    yield check


class _Log:
    """The events so far, and those that follow from the other files, by kind and in order."""

    def __init__(
        self,
        check: Check,
        trace: TraceColumns,
        attempts: RunColumns,
        lost: LostColumns,
        rounds: RoundColumns,
    ) -> None:
        self._check, self._attempts = check, attempts
        # Rows of lost attempts lie behind those of `jobs.parquet`.
        rows = np.flatnonzero(attempts.state != "requeued").tolist()
        self._rows = {int(attempts.job_id[row]): row for row in rows}
        self._first_place = np.concatenate(([0], np.cumsum(attempts.places))).tolist()
        self._starts: dict[int, list[int]] = {}
        ran = np.flatnonzero(attempts.ran).tolist()
        for row in sorted(ran, key=attempts.start_time.__getitem__, reverse=True):
            self._starts.setdefault(int(attempts.job_id[row]), []).append(row)
        self._expected = {
            "submitted": self._submissions(trace),
            "left": self._ends(rows),
            "interrupted": self._losses(lost),
            "round": self._rounds(rounds),
        }
        columns = (rounds.now, rounds.running, rounds.started, rounds.rejected)
        self._decided = zip(*(column.tolist() for column in columns), strict=True)
        self._time = -1
        self._previous: _Event = {}
        self._waiting: set[int] = set()
        self._running: set[int] = set()
        # Numbers of jobs that started, and that the dispatcher rejected, since the last round.
        self._started = self._dismissed = 0

    def read(self, where: str, line: str) -> None:
        """Check one line, and that its job was waiting or running as the event needs it to be."""
        try:
            event = json.loads(line)
            kind, time, job_id = event["event"], event["time"], event.get("job_id")
            late = kind != "rejected" and time < self._time
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
            self._check.found(f"{where}: expected an event with a time, found {line[:80]!r}")
            return
        if kind == "started":
            expected = self._start(event)
        else:
            stream = "left" if kind in _LEFT else str(kind)
            expected = next(self._expected.get(stream, iter(())), None)
        if expected is not None and kind == "submitted" and job_id not in self._rows:
            # A job that a partial run left in the system: no other file has its prediction.
            expected["predicted_run_time"] = event.get("predicted_run_time")
        # As text: `true`, `1` and `1.0` are equal in Python.
        if expected is None or _text(expected) != _text(event):
            self._check.expect(where, _text(expected), _text(event))
            return
        self._check.looked_at += 1
        if late:
            self._check.found(f"{where}: time: expected at least {self._time}, found {time}")
        if kind != "rejected":
            self._time = time
        self._follow(where, event)
        self._previous = event

    def end(self, left: dict[str, int]) -> None:
        """Check that no event is missing, and how many jobs are left, which a partial run tells."""
        for kind in ("left", "interrupted", "round", *(() if left else ("submitted",))):
            self._check.looked_at += 1
            missing = next(self._expected[kind], None)
            if missing is not None:
                self._check.found(f"{EVENTS}: expected {_text(missing)}, found no such line")
        for name, jobs in (("waiting", self._waiting), ("running", self._running)):
            self._check.expect(f"jobs {name} at the end of {EVENTS}", left.get(name, 0), len(jobs))

    def _follow(self, where: str, event: _Event) -> None:
        """Move the job of an event between the sets of waiting and running jobs."""
        kind, job_id = event["event"], event.get("job_id")
        if kind == "round":
            now, running, started, rejected = next(self._decided)
            self._check.expect(f"{where}: starts before it", started, self._started)
            self._check.expect(f"{where}: rejections before it", rejected, self._dismissed)
            self._check.expect(f"{where}: waiting jobs", event["waiting"], len(self._waiting))
            # How many ran before it is known as of the request, and holds if that was just now.
            if now == event["time"]:
                here = len(self._running) - started
                self._check.expect(f"{where}: jobs running before it", running, here)
            self._started = self._dismissed = 0
            return
        if kind == "failed":
            # The attempt has ended with the event `interrupted` before.
            return
        assert job_id is not None
        before = self._waiting if kind in ("started", "rejected") else self._running
        if kind == "submitted":
            self._waiting.add(job_id)
        elif job_id not in before:
            state = "running" if before is self._running else "waiting"
            self._check.found(f"{where}: expected job {job_id} to be {state}, found it was not")
        else:
            before.remove(job_id)
        if kind == "started":
            self._running.add(job_id)
            self._started += 1
        elif kind == "interrupted" and event["requeued"]:
            self._waiting.add(job_id)
        elif kind == "rejected":
            if self._attempts.rejected_by[self._rows[job_id]] == "dispatcher":
                self._dismissed += 1
            elif self._previous.get("job_id") != job_id:
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

    def _submissions(self, trace: TraceColumns) -> Iterator[_Event]:
        columns = (trace.submit_time, trace.job_id, trace.units)
        for time, job_id, units in zip(*(column.tolist() for column in columns), strict=True):
            event = {"time": time, "event": "submitted", "job_id": job_id, "units": units}
            row = self._rows.get(job_id)
            if row is not None:
                event["predicted_run_time"] = int(self._attempts.predicted_run_time[row])
            yield event

    def _ends(self, rows: list[int]) -> Iterator[_Event]:
        run = self._attempts
        for row in rows:
            state = str(run.state[row])
            time = int((run.submit_time if state == "rejected" else run.end_time)[row])
            yield {"time": time, "event": state, "job_id": int(run.job_id[row])}

    def _losses(self, lost: LostColumns) -> Iterator[_Event]:
        columns = (lost.end_time, lost.job_id, lost.requeued)
        for time, job_id, requeued in zip(*(column.tolist() for column in columns), strict=True):
            yield {"time": time, "event": "interrupted", "job_id": job_id, "requeued": requeued}

    def _rounds(self, rounds: RoundColumns) -> Iterator[_Event]:
        columns = (rounds.done, rounds.number, rounds.queued, rounds.started, rounds.waiting)
        names = ("time", "round", "queued", "started", "waiting")
        for values in zip(*(column.tolist() for column in columns), strict=True):
            yield {"event": "round", **dict(zip(names, values, strict=True))}


def _text(event: object) -> str:
    """Return an event as text with keys in alphabetical order."""
    return json.dumps(event, sort_keys=True)
