"""A reader of the Standard Workload Format that reads one record after the other, in Python."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import LARGEST
from hpcsched.system.space import room_for
from hpcsched.system.system import Request, System
from hpcsched.workload.job import Job, TracedJob, time_fault
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds, processors_per_node, whole_nodes
from hpcsched.workload.readers.swf import SwfParams, parted
from hpcsched.workload.trace_source import TraceAccount

_USED = (0, 1, 3, 4, 7, 8, 11, 12, 13, 14, 15)


class SwfRecords:
    """The jobs of a log, each record by itself, with the account and the error."""

    def __init__(self, params: SwfParams, system: System) -> None:
        self.params, self.system = params, system
        self.account = TraceAccount()
        self.comments: list[str] = []
        self._seconds = WholeSeconds(params.fractional_seconds)
        self._numbers: set[int] = set()
        self._earliest = 0
        self._sum = 0
        self._changes: dict[int, list[str]] = {}
        data = Path(params.path).read_bytes()
        self._lines = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).split(b"\n")
        for line in self._lines:
            if line[:1] == b";":
                self.comments.append(line[1:].decode("utf-8", "backslashreplace").strip())
            elif line.strip():
                break
        declared = [one.split()[1:] for one in self.comments if one.startswith("UnitResources:")]
        self._declared = declared[0] if declared else []
        self._types = [] if params.unit else self._declared
        self._named = ["JobNames:", "last"] in [one.split() for one in self.comments]

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs; raises InputError at the first record that a policy calls an error."""
        limit, account = self.params.jobs, self.account
        jobs = self._read()
        if self.params.unsorted == "sort":
            found = sorted(jobs, key=lambda traced: traced.job.submit_time)
            jobs = iter(found[:limit])
            if limit is not None and len(found) > limit:
                account.skipped["after_first_jobs"] = len(found) - limit
        for traced in jobs:
            account.submitted += 1
            account.clipped.update(self._changes[traced.job.job_id])
            yield traced
            if account.submitted == limit:
                return

    def _read(self) -> Iterator[TracedJob]:
        for number, line in enumerate(self._lines, 1):
            if line[:1] == b";" or not line.strip():
                continue
            self.account.read += 1
            try:
                traced = self._job(line)
            except UnusableError as problem:
                self._skip(problem, number)
            else:
                self._earliest = traced.job.submit_time
                yield traced

    def _skip(self, problem: UnusableError, number: int) -> None:
        reason, path = problem.reason, Path(self.params.path)
        if getattr(self.params, reason, "error") == "error":
            hint = f"; the policy {reason!r} of the trace source says what else to do"
            message = f"{problem}{hint if hasattr(self.params, reason) else ''}"
            raise InputError(Finding(reason.replace("_", "-"), message, Place(str(path), number)))
        if reason == "malformed":
            self.account.note_fault(f"{path.name}:{number}", str(problem))
        self.account.skipped[reason] += 1

    def _fields(self, line: bytes) -> tuple[list[int], list[int], str | None]:
        """Return the numbers that are used, the declared amounts, and the name of a record."""
        fields, seconds = line.split(), self._seconds
        count = 18 + len(self._declared) + self._named
        if len(fields) != count:
            raise UnusableError("malformed", f"expected {count} fields, found {len(fields)}")
        amounts = range(18, 18 + len(self._declared)) if self._types else ()
        memory = (9,) if self.params.requested_memory == "use" else ()
        numbers = []
        for n in (*_USED, *memory, *amounts):
            text = fields[n].decode("ascii", "replace")
            try:
                if n == 1:
                    numbers.append(seconds.instant(text))
                elif n in (3, 8):
                    numbers.append(seconds.duration(text))
                elif "_" in text:
                    raise ValueError
                else:
                    numbers.append(int(fields[n]))
            except ValueError:
                shown = fields[n][:40].decode("utf-8", "backslashreplace")
                message = f"expected whole numbers, found {shown!r}"
                raise UnusableError("malformed", message) from None
        if max(numbers) > LARGEST:
            raise UnusableError("malformed", f"expected numbers up to {LARGEST}")
        name = fields[-1].decode("utf-8", "backslashreplace") if self._named else "-1"
        return numbers[:11], numbers[11:], None if name == "-1" else name

    def _job(self, line: bytes) -> TracedJob:
        params = self.params
        changes: list[str] = []
        self._seconds.rounded = False
        numbers, amounts, name = self._fields(line)
        changes += ["fractional_seconds"] * self._seconds.rounded
        job_id, submit_time, run_time, allocated, units, requested_time, *whose = numbers
        if job_id < 0 or submit_time < 0:
            message = "expected a job number and a submit time, found -1"
            raise UnusableError("malformed", message)
        if job_id in self._numbers:
            raise UnusableError("malformed", f"job number {job_id} was seen before")
        self._numbers.add(job_id)
        if params.unsorted != "sort" and submit_time < self._earliest:
            raise UnusableError(
                "unsorted",
                f"expected a submit time of at least {self._earliest}, as the job before has,"
                f" found {submit_time}",
            )
        if run_time < 0:
            raise UnusableError("missing_run_time", "no run time is given")
        if run_time == 0 and params.zero_run_time == "skip":
            raise UnusableError("zero_run_time", "the run time is 0")
        if units <= 0 and params.missing_processors == "allocated":
            units = allocated
        if units <= 0:
            raise UnusableError("missing_processors", "no requested processors are given")
        if requested_time <= 0:
            stand_in = params.missing_requested_time
            if stand_in in ("skip", "error"):
                raise UnusableError("missing_requested_time", "no requested time is given")
            requested_time = stand_in if isinstance(stand_in, int) else run_time
        request = self._request(units, amounts)
        if run_time > requested_time and params.over_requested_time == "clip":
            run_time = requested_time
            changes.append("over_requested_time")
        details: list[Any] = [None if number < 0 else number for number in whose]
        job = Job(job_id, submit_time, request, requested_time, *details, name)
        traced = TracedJob(job, run_time)
        try:
            job, run_time = traced
            times = job.submit_time, run_time, job.requested_time, job.think_time
            if fault := time_fault(*times, self._sum):
                raise ValueError(fault)
            self._sum += max(run_time, job.requested_time) + job.think_time
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None
        self._changes[job_id] = changes
        return traced

    def _request(self, units: int, amounts: list[int]) -> Request:
        declared = dict(self.params.unit or {"core": 1})
        amounts = list(amounts)
        memory = amounts.pop(0) if self.params.requested_memory == "use" else 0
        if self._types:
            declared = dict(zip(self._types, [max(one, 0) for one in amounts], strict=True))
        if memory > 0:
            declared["mem"] = memory * 1024
        size = 1
        one = self.system.request(declared)
        if not any(one):
            raise UnusableError("malformed", "a unit must ask for at least one resource type")
        if self.params.mapping == "whole_nodes" and (
            per_node := processors_per_node(self.system, one)
        ):
            units, size = whole_nodes(units, per_node)
        of_nodes, _ = parted({name: n * size for name, n in declared.items()}, self.system)
        unit_request = self.system.request(of_nodes)
        room = room_for(self.system, unit_request)
        if units > room:
            message = f"{units} units are requested, and at most {room} fit"
            raise UnusableError("larger_than_system", message)
        return Request(units, unit_request)
