"""Checks of the manifest, of hashes, and of the files of observers."""

import json
import re
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from hpcsched.audit.columns import Declared, LostColumns, RunColumns, TraceColumns
from hpcsched.audit.rounds import RoundColumns
from hpcsched.audit.violations import Check
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import EVENTS, JOBS, KNOWN, OPTIONAL, REASONS, ROUNDS, TRACE_ANSWERS, USAGE
from hpcsched.runs.manifest import (
    Manifest,
    content_sha256,
    file_hashes,
    package_versions,
    sha256,
)
from hpcsched.runs.solver_rounds import lost_in_words
from hpcsched.runs.tables import ParquetTable, lost_calls
from hpcsched.workload.trace_source import TraceSource, answers_of

_VERSION = re.compile(r"\d+(\.\d+)*([-.+]?[A-Za-z0-9]+)*")
_WRITER = re.compile(r"version (\d+\.\d+\.\d+)")
_LEFT_BEHIND = ("waiting", "running", "not_yet_submitted")


def check_files(run: RunDirectory) -> Check:
    """Check that each file has the SHA-256 that the manifest recorded when the run ended."""
    check = Check("every file of the directory is as it was when the run ended, by its SHA-256")
    recorded, found = run.manifest.files, file_hashes(run.path)
    for name in sorted(recorded):
        if name in found:
            check.expect(f"SHA-256 of {name}", recorded[name], found[name])
        else:
            check.looked_at += 1
            check.found(f"{name}: expected in the directory, found it gone")
    for name in sorted(set(found) - set(recorded)):
        if name in (*KNOWN, *OPTIONAL):
            check.looked_at += 1
            check.found(f"{name}: expected its SHA-256 in the manifest, found none")
        else:
            check.notes.append(f"{name} was put there after the run")
    return check


def check_trace_files(manifest: Manifest, source: TraceSource, *, kept: bool = False) -> Check:
    """Check that the files of the trace are those of the run, by SHA-256 and size.

    Answers of programs are those that the run kept; if it kept none, they are asked for again.

    Parameters
    ----------
    kept
        True if the source reads the answers that the run kept.
    """
    check = Check("the trace is the one that was run")
    recorded = {file.path: file for file in manifest.trace_files}
    found = [(str(path), sha256(path), path.stat().st_size, False) for path in source.files]
    for name, content in answers_of(source):
        found.append((name, content_sha256(content), len(content), True))
    check.expect("number of trace files", len(manifest.trace_files), len(found))
    for name, digest, size, is_answer in found:
        of_run = recorded.get(name)
        check.expect(f"SHA-256 of {name}", of_run and of_run.sha256, digest)
        if is_answer and kept:
            check.notes.append(f"{name} was read from {TRACE_ANSWERS}, and not asked for again")
        elif is_answer and of_run is not None and of_run.sha256 != digest:
            check.notes.append(
                f"{name} gives another answer than in the run, which kept no copy: the checks of"
                " jobs compare with the present answer"
            )
        if of_run is not None and of_run.sha256 == digest:
            check.expect(f"bytes of {name}", size, of_run.bytes)
            check.expect(f"{name} is the answer of a program", is_answer, of_run.answer)
    for file in manifest.trace_files:
        check.expect(f"{file.path} changed while the run went on", False, file.changed)
    return check


def check_manifest(run: RunDirectory, declared: Declared, comments: Sequence[str]) -> Check:
    """Check the manifest's scenario, versions, and start and end of the run."""
    check = Check("the manifest agrees with the scenario, the trace and the files beside it")
    manifest = run.manifest
    check.expect("scenario", declared.name, manifest.scenario)
    check.expect("seed", declared.seed, manifest.seed)
    if not run.partial:
        check.expect("trace_comments", list(comments), manifest.trace_comments)
    check.expect("plugins", sorted(declared.distributions), sorted(manifest.plugins))
    _check_versions(check, run)
    because = manifest.not_reproducible_because
    if not any(file.changed for file in manifest.trace_files):
        lost = lost_in_words(sum(lost_calls(part["solver"]) for part in run.rounds.parts("solver")))
        expected = [*declared.not_reproducible, *([] if lost is None else [lost])]
        check.expect("not_reproducible_because", expected, because)
    check.expect("reproducible", not because, manifest.reproducible)
    check.expect("a platform", True, bool(manifest.platform))
    check.expect(
        "at least one processor", True, manifest.cpu_count is None or manifest.cpu_count > 0
    )
    _check_end(check, run)
    if not run.partial:
        check.expect("error", None, manifest.error)
    return check


def _check_versions(check: Check, run: RunDirectory) -> None:
    """Check that versions are well-formed and fit the plugins and Parquet files."""
    versions, plugins = run.manifest.versions, run.manifest.plugins
    # The names, not the numbers: a run may be audited with other versions installed.
    check.expect("versions", sorted(package_versions()), sorted(versions))
    for name, version in {**versions, **plugins}.items():
        check.expect(f"version of {name}: {version!r}", True, bool(_VERSION.fullmatch(version)))
    own = versions.get("hpcsched")
    check.expect("plugins.hpcsched", own, plugins.get("hpcsched", own))
    # Parquet names a release by three numbers, without local suffixes.
    pyarrow = ".".join(versions.get("pyarrow", "").split(".")[:3])
    for name in (JOBS, ROUNDS):
        # Both files have been read by now: they are whole.
        written_by = _WRITER.search(pq.read_metadata(run.path / name).created_by or "")
        if written_by is not None:
            check.expect(f"pyarrow that wrote {name}", pyarrow, written_by[1])


def _check_end(check: Check, run: RunDirectory) -> None:
    """Check when the run began and ended, and that only a partial run left jobs."""
    manifest, jobs = run.manifest, run.summary["jobs"]
    instants = [_instant(text) for text in (manifest.started, manifest.finished)]
    for name, instant, text in zip(
        ("started", "finished"), instants, (manifest.started, manifest.finished), strict=True
    ):
        check.expect(f"{name}: {text!r}: an instant in UTC", True, instant is not None)
    started, finished = instants
    if started is not None and finished is not None:
        check.looked_at += 1
        if finished < started:
            check.notes.append(
                f"it finished at {finished}, before it started at {started}: its machine's clock"
                " was set back, or one of the two was changed"
            )
    expected = list(_LEFT_BEHIND) if run.partial else []
    check.expect(
        f"jobs left in a run that is {manifest.status}",
        expected,
        [key for key in _LEFT_BEHIND if key in jobs],
    )


def _instant(text: str | None) -> datetime | None:
    """Parse an instant in UTC; None if the text is none."""
    try:
        instant = datetime.fromisoformat(text or "")
    except ValueError:
        return None
    return instant if instant.utcoffset() == timedelta(0) else None


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
