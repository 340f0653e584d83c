"""Common part of sources that read a log: records as columns, policies, and the account.

A reader yields its records block by block, as columns. The core applies the policies to them, in
the order of the log; here each record is counted, and its error told.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hpcsched._core import RecordChecks, Verdict
from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.space import idle_room
from hpcsched.system.system import IntArray, Request, System
from hpcsched.workload import job as jobs_read
from hpcsched.workload.job import LONGEST, NUMBERED, TEXTS, TracedJob, time_fault
from hpcsched.workload.readers.policies import RecordPolicies, SetAsideError, UnusableError
from hpcsched.workload.readers.quantities import WholeSeconds
from hpcsched.workload.trace_source import TraceAccount

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns, RequestNumbers


VerdictArray = npt.NDArray[np.int8]

REASONS: Mapping[Verdict, tuple[str, str]] = {
    Verdict.NO_NUMBER: ("malformed", "expected a job number and a submit time, found -1"),
    Verdict.REPEATED_NUMBER: ("malformed", "job number {job_id} was seen before"),
    Verdict.UNSORTED: (
        "unsorted",
        "expected a submit time of at least {earliest}, as the job before has, found {submit_time}",
    ),
    Verdict.MISSING_RUN_TIME: ("missing_run_time", "no run time is given"),
    Verdict.ZERO_RUN_TIME: ("zero_run_time", "the run time is 0"),
    Verdict.MISSING_PROCESSORS: ("missing_processors", "no requested processors are given"),
    Verdict.MISSING_REQUESTED_TIME: ("missing_requested_time", "no requested time is given"),
}
"""Reason and message of each verdict that follows from a record's numbers alone."""


class LogReader(Protocol):
    """Reader of the file of a log."""

    @property
    def path(self) -> Path:
        """File of the log."""

    @property
    def comments(self) -> Sequence[str]:
        """Header comments read so far."""

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1."""


class ReadRequest(NamedTuple):
    """Request of records of a log.

    Attributes
    ----------
    fault
        Why records with it give no job; None if they do.
    changes
        Clippings of jobs with this request, by name.
    """

    request: Request
    fault: UnusableError | None = None
    changes: Sequence[str] = ()


NO_REQUEST = Request(1, ())
"""Request of a record with a fault."""


@dataclass(slots=True)
class Block:
    """Records of a log as columns, `[L]`, times in seconds; -1 where a number is not given.

    Attributes
    ----------
    line
        Number of the line or row of each record in its file, which `path` returns.
    verdicts
        Verdicts on the record by itself; a fault of a request holds at its place in the checks.
    request
        The request of each record, as an index of `requests`; -1 where it has none.
    details
        Numbers of user, group and so on, in the order of `NUMBERED`, of which the last may lack.
    think_time
        Time after the end of the preceding job; 0 without one.
    faults
        Why lines are no records.
    changes
        Clippings of records, by name.
    preceding
        Number of the preceding job, below 1 for none; None where no job has any.
    texts
        Name of a record's job, of its queue and of its partition; those that the log has.
    named
        Names, by row of `details`, that are numbered as they appear in jobs.
    wait
        Recorded wait time of a record, negative if not given; None if the log has none.
    patience, begin_delay
        Wait after which a job was withdrawn, -1 if it was not, and time after its submission before
        which it may not start; None where no job has any.
    """

    path: Callable[[int], Path]
    line: IntArray
    verdicts: VerdictArray
    job_id: IntArray
    submit_time: IntArray
    run_time: IntArray
    requested_time: IntArray
    request: IntArray
    requests: Sequence[ReadRequest]
    details: IntArray
    think_time: IntArray
    faults: dict[int, UnusableError] = field(default_factory=dict)
    changes: dict[int, list[str]] = field(default_factory=dict)
    preceding: IntArray | None = None
    texts: Mapping[str, Callable[[int], str | None]] = field(default_factory=dict)
    named: Mapping[int, Callable[[int], str]] = field(default_factory=dict)
    wait: Callable[[int], int] | None = None
    patience: IntArray | None = None
    begin_delay: IntArray | None = None

    def columns(self, rows: IntArray, numbers: "RequestNumbers") -> "JobColumns":
        """Return the jobs of some of the records."""
        # Here and below: it takes its time, and to check a scenario needs no columns.
        import pyarrow as pa  # noqa: PLC0415

        from hpcsched.arrow_arrays import arrow_array, python_array  # noqa: PLC0415
        from hpcsched.workload.job_batches import DETAILS, JobColumns, numbered  # noqa: PLC0415

        request = self.request[rows]
        asked = [one.request for one in self.requests]
        details = {
            name: arrow_array(row, row < 0)
            for name, row in zip(NUMBERED, self.details[:, rows], strict=False)
        }
        for name, text in self.texts.items():
            details[name] = python_array([text(k) for k in rows.tolist()], pa.string())
        if self.preceding is not None:
            after = [[number] if number > 0 else None for number in self.preceding[rows].tolist()]
            details["after"] = python_array(after, DETAILS.field("after").type)
        details["think_time"] = arrow_array(self.think_time[rows])
        delay = np.zeros_like(self.job_id) if self.begin_delay is None else self.begin_delay
        details["begin_delay"] = arrow_array(delay[rows])
        if self.patience is not None:
            details["patience"] = arrow_array(self.patience[rows], self.patience[rows] < 0)
        if any(one.shared_requests for one in asked):
            drawn = [asked[k].shared_requests or None for k in request.tolist()]
            details["shared_requests"] = pa.array(drawn, DETAILS.field("shared_requests").type)
        return JobColumns(
            self.job_id[rows],
            self.submit_time[rows],
            self.run_time[rows],
            self.requested_time[rows],
            np.array([one.units for one in asked], dtype=np.int64)[request],
            numbered(request, asked, numbers),
            numbers.requests,
            pa.RecordBatch.from_arrays(
                [
                    details[one.name] if one.name in details else pa.nulls(len(rows), one.type)
                    for one in DETAILS
                ],
                schema=DETAILS,
            ),
        )


class NamesSeen:
    """Numbers of names, from 1 in the order of their first occurrence."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._numbers: dict[str, int] = {}

    def number(self, name: str) -> int | None:
        """Return the name's number, a new one for a new name; None for an empty name."""
        return self._numbers.setdefault(name, len(self._numbers) + 1) if name else None

    def comments(self) -> Iterator[str]:
        """Yield a line for each name, such as `Partition: 3 gpu`."""
        for name, number in self._numbers.items():
            yield f"{self._kind}: {number} {name}"


class _Batch(NamedTuple):
    """Jobs, the numbers of their records, and the number of the last record read for them."""

    columns: "JobColumns"
    records: IntArray
    last: int


class _Skipped(NamedTuple):
    """Record that gives no job: its position in the log, from 1, the reason, and its place."""

    record: int
    problem: UnusableError
    file: Path
    line: int


class LogSource(ABC):
    """Trace source without the format of its log.

    Every record counts once in the account: submitted, or skipped for the first reason that
    applies. A reason is the name of a policy; or the kind of a record that is no job, in formats
    with other records; or `after_first_jobs` for further jobs of a log that had to be sorted.

    Attributes
    ----------
    seconds
        Reader of times, with the policy for fractions.
    finished
        Whether the last job has been yielded.
    names
        Names that are numbered as they appear in jobs, by row of `Block.details`.
    """

    uniform_request: tuple[int, ...] | None = None
    """The unit request of every job, where it is one and unconstrained."""

    reasons: ClassVar[Mapping[Verdict, tuple[str, str]]] = REASONS
    """Reason and message of each verdict that follows from a record's numbers alone."""

    numbers_jobs = False
    """Whether only jobs have numbers of their own, and records without a job may repeat them."""

    renumber_from: int | None = None
    """First number of jobs whose number another job has; None: they give no job."""

    def __init__(self, policies: RecordPolicies, system: System, lines: LogReader) -> None:
        self.account = TraceAccount()
        self.system = system
        self.seconds = WholeSeconds(policies.fractional_seconds)
        self.lines = lines
        self.finished = False
        self.names: dict[int, NamesSeen] = {}
        self._policies = policies
        self._withdrawn = getattr(policies, "withdrawn", "skip")
        self._waits: dict[int, int] | None = None
        self._system = system

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the log, and the names seen so far."""
        return [*self.lines.comments, *(c for one in self.names.values() for c in one.comments())]

    @property
    def files(self) -> Sequence[Path]:
        """Files of the log."""
        return [self.lines.path]

    @property
    def fraction_read(self) -> float:
        """Fraction of the log that has been read, from 0 to 1; 1 if no more of it is needed."""
        return 1.0 if self.finished else self.lines.fraction_read

    def keep_waits(self) -> dict[int, int]:
        """Return the mapping of recorded wait times; see `RecordsWaits`."""
        if self._waits is None:
            self._waits = {}
        return self._waits

    @abstractmethod
    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log, from the first on; those before an error come before it.

        The caller may change the arrays.

        Parameters
        ----------
        most
            Number of jobs that are wanted; None: all.
        """

    def begin(self) -> None:
        """Prepare for reading the log from its first record."""
        self.account = TraceAccount()
        self.finished = False
        if self._waits is not None:
            self._waits.clear()

    def linked(self, columns: "JobColumns", records: IntArray) -> "JobColumns":
        """Return jobs in order of submission, as they depend on those before; unchanged by default.

        Parameters
        ----------
        records
            Numbers of their records, from 1.
        """
        return columns

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs in order of submission."""
        from hpcsched.workload.job_batches import RequestNumbers, records_of  # noqa: PLC0415

        # Counted job by job: whoever takes the first ones only has the account of these.
        for columns, records, last in self._batches(RequestNumbers()):
            for record, traced in zip(records.tolist(), records_of([columns]), strict=True):
                self._count_records(record)
                self.account.submitted += 1
                self.account.clipped.update(self._changes.pop(record, ()))
                yield traced
            self._count_records(last)
        self.finished = True

    def job_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the jobs as columns, in batches."""
        for columns, records, last in self._batches(numbers):
            fault = None
            try:
                self._count_records(last)
            except InputError as error:
                fault = error
            self.account.submitted += len(records)
            for record in self._changes.keys() & set(records.tolist() if self._changes else ()):
                self.account.clipped.update(self._changes.pop(record))
            if len(records):
                yield columns
            if fault is not None:
                raise fault
        self.finished = True

    def _batches(self, numbers: "RequestNumbers") -> Iterator[_Batch]:
        """Yield the jobs in order of submission; nothing of them has been counted."""
        from hpcsched.workload.job_batches import numbered  # noqa: PLC0415

        self.begin()
        self._read = 0
        self._skipped: deque[_Skipped] = deque()
        self._changes: dict[int, list[str]] = {}
        self._last_run_times: dict[int | None, int] = {}
        policies = self._policies
        sort = policies.unsorted == "sort"
        stand_in = policies.missing_requested_time
        self._checks = RecordChecks(
            sorts=sort,
            skips_zero_run_time=policies.zero_run_time == "skip",
            clips=policies.over_requested_time == "clip",
            missing_requested_time=(
                stand_in if isinstance(stand_in, int) else 0 if stand_in == "run_time" else None
            ),
            longest=LONGEST,
            largest_sum=jobs_read.LARGEST_SUM,
            numbers_jobs=self.numbers_jobs,
            renumber_from=self.renumber_from,
        )
        batches = self._sorted_jobs() if sort else self._read_blocks(numbers)
        for columns, records, last in batches:
            request = numbered(columns.request, columns.requests, numbers)
            ours = columns._replace(request=request, requests=numbers.requests)
            linked = self.linked(ours if sort else columns, records)
            if self._withdrawn != "skip":
                linked = self._with_run_times(linked)
            yield _Batch(linked, records, last)

    def _with_run_times(self, columns: "JobColumns") -> "JobColumns":
        """Return jobs in which withdrawn ones run as long as their user's last job that ran.

        At most, and for users without such a job, they run for their requested time.
        """
        import pyarrow as pa  # noqa: PLC0415

        details, run_time = columns.details, columns.run_time.copy()
        patience = details.column("patience")
        users = details.column("user").to_pylist()
        for k, (user, wait) in enumerate(zip(users, patience.to_pylist(), strict=True)):
            if wait is None:
                self._last_run_times[user] = int(run_time[k])
            else:
                run_time[k] = min(self._last_run_times.get(user, run_time[k]), run_time[k])
        if self._withdrawn == "never_leave":
            place = details.schema.get_field_index("patience")
            never = pa.nulls(len(patience), patience.type)
            details = details.set_column(place, "patience", never)
        return columns._replace(run_time=run_time, details=details)

    def _count_records(self, last: int) -> None:
        """Count the records up to the `last`, from 1; raises InputError at the error of one."""
        while self._skipped and self._skipped[0].record <= last:
            record, problem, file, line = self._skipped.popleft()
            reason = problem.reason
            self.account.read = record
            if self._is_error(problem):
                hint = f"; the policy {reason!r} of the trace source says what else to do"
                message = f"{problem}{hint if hasattr(self._policies, reason) else ''}"
                place = Place(str(file), line)
                raise InputError(Finding(reason.replace("_", "-"), message, place))
            if reason == "malformed":
                self.account.note_fault(f"{file.name}:{line}", str(problem))
            self.account.skipped[reason] += 1
        self.account.read = max(self.account.read, last)

    def _is_error(self, problem: UnusableError) -> bool:
        """Return whether the policy calls a record an error."""
        # The reason is the policy's field name: a new policy needs no table of reasons.
        policy = getattr(self._policies, problem.reason, None)
        return policy in (None, "error") and not isinstance(problem, SetAsideError)

    def _sorted_jobs(self) -> Iterator[_Batch]:
        """Yield the jobs of the whole log in order of submission."""
        from hpcsched.workload.job_batches import BATCH, RequestNumbers  # noqa: PLC0415

        held: list[_Batch] = []
        for batch in self._read_blocks(RequestNumbers()):
            self._count_records(batch.last)
            held.append(batch)
        columns, records, _ = _in_order(held, self._policies.jobs)
        left = sum(len(batch.records) for batch in held) - len(records)
        if left:
            self.account.skipped["after_first_jobs"] = left
        for first in range(0, len(records), BATCH):
            rows = np.arange(first, min(first + BATCH, len(records)))
            yield _Batch(columns.take(rows), records[rows], self._read)

    def _read_blocks(self, numbers: "RequestNumbers") -> Iterator[_Batch]:
        """Yield the usable jobs, in the order of the log."""
        left = None if self._policies.unsorted == "sort" else self._policies.jobs
        # The file is closed at an error, even while its traceback keeps this frame.
        blocks: Any = self.blocks(left)
        with closing(blocks):
            for block in blocks:
                rows = self._taken(block, left)
                records = self._read + 1 + rows
                end = len(block.line)
                if left is not None and len(rows) == left:
                    end = int(rows[-1]) + 1
                self._read += end
                for detail, name in block.named.items():
                    for k in rows.tolist():
                        block.details[detail, k] = self.names[detail].number(name(k)) or -1
                if self._waits is not None and block.wait is not None:
                    for k, number in zip(rows.tolist(), block.job_id[rows].tolist(), strict=True):
                        if (wait := block.wait(k)) >= 0:
                            self._waits[number] = wait
                yield _Batch(block.columns(rows, numbers), records, self._read)
                left = left if left is None else left - len(rows)
                if left == 0:
                    return

    def _taken(self, block: Block, most: int | None) -> IntArray:
        """Apply the policies to each record; return those that give a job, `most` at most."""
        verdicts = block.verdicts
        earliest, lasting = self._checks.earliest, self._checks.sum
        refused = np.array([one.fault is not None for one in block.requests], dtype=np.bool_)
        if refused.any():
            of_record = (block.request >= 0) & refused[block.request]
            verdicts[of_record & (verdicts == Verdict.JOB)] = Verdict.REFUSED_REQUEST
        cut = np.zeros(len(verdicts), dtype=np.bool_)
        self._checks.check(
            block.job_id,
            block.submit_time,
            block.run_time,
            block.requested_time,
            block.think_time,
            verdicts,
            cut,
        )
        rows = np.flatnonzero(verdicts == Verdict.JOB)[:most]
        end = int(rows[-1]) + 1 if len(rows) == most else len(verdicts)
        for k in np.flatnonzero(verdicts[:end] != Verdict.JOB).tolist():
            before = rows[: np.searchsorted(rows, k)]
            problem = block.faults.get(k) or self._problem(k, block, before, earliest, lasting)
            record = self._read + 1 + k
            self._skipped.append(_Skipped(record, problem, block.path(k), int(block.line[k])))
            if self._is_error(problem):
                rows = before
                break
        self._note_changes(block, rows, cut)
        return rows

    def _problem(
        self, k: int, block: Block, before: IntArray, earliest: int, lasting: int
    ) -> UnusableError:
        """Return why record `k` gives no job."""
        verdict = Verdict(int(block.verdicts[k]))
        submit_time, run_time, requested_time, think_time = (
            int(column[k])
            for column in (
                block.submit_time, block.run_time, block.requested_time, block.think_time,
            )
        )  # fmt: skip
        if verdict == Verdict.REFUSED_REQUEST:
            fault = block.requests[int(block.request[k])].fault
            assert fault is not None  # as the verdict says
            return fault
        if verdict == Verdict.TOO_LONG:
            times = np.maximum(block.run_time, block.requested_time) + block.think_time
            lasting += int(times[before].sum())
            too_long = time_fault(submit_time, run_time, requested_time, think_time, lasting)
            return UnusableError("malformed", str(too_long))
        if len(before):
            earliest = int(block.submit_time[before[-1]])
        reason, message = self.reasons[verdict]
        found = {"job_id": int(block.job_id[k]), "submit_time": submit_time, "earliest": earliest}
        return UnusableError(reason, message.format(**found))

    def _note_changes(self, block: Block, rows: IntArray, cut: npt.NDArray[np.bool_]) -> None:
        """Note the clippings of jobs."""
        for k in rows[cut[rows]].tolist():
            self.note_change(self._read + 1 + k, "over_requested_time")
        if not block.changes and not any(one.changes for one in block.requests):
            return
        for k in rows.tolist():
            for change in (*block.changes.get(k, ()), *block.requests[block.request[k]].changes):
                self.note_change(self._read + 1 + k, change)

    def note_change(self, record: int, change: str) -> None:
        """Count a clipping of a job once the job is yielded."""
        self._changes.setdefault(record, []).append(change)

    def check_room(self, request: Request, amounts: Mapping[str, int | Fraction]) -> None:
        """Raise UnusableError if a job's units do not fit on the idle system."""
        try:
            room = idle_room(self._system, request).units
        except ValueError as error:
            raise UnusableError("malformed", str(error)) from None
        if request.units <= room:
            return
        if room == 0 and self.system.loses(amounts, request.allowed_nodes):
            raise UnusableError(
                "lost_to_units",
                "a node could hold what a unit asks for, but not once it is counted in the units"
                " that the system declares; expected smaller units",
            )
        raise UnusableError(
            "larger_than_system", f"{request.units} units are requested, and at most {room} fit"
        )


def _in_order(batches: Sequence[_Batch], most: int | None) -> _Batch:
    """Return the first jobs of batches in order of submission; ties keep the order of the log."""
    from hpcsched.workload.job_batches import NO_JOBS, joined_columns  # noqa: PLC0415

    whole = joined_columns([NO_JOBS, *(batch.columns for batch in batches)])
    records = np.concatenate([NO_JOBS.job_id, *(batch.records for batch in batches)])
    order = np.lexsort((records, whole.submit_time))[:most]
    return _Batch(whole.take(order), records[order], 0)


def check_types(system: System, names: Iterable[str], path: Path, key: str, hint: str = "") -> None:
    """Check that the system has some resource types."""
    unknown = [name for name in names if name not in system.resource_types]
    if unknown:
        message = (
            f"a unit asks for {', '.join(unknown)}, which no node group has; there are:"
            f" {', '.join(system.resource_types)}{hint}"
        )
        raise InputError(Finding("unknown-resource-type", message, Place(str(path)), key=key))


def check_draws(system: System, names: Iterable[str], path: Path, key: str) -> set[str]:
    """Return the names of shared resources, after a check that records may request some of them."""
    draws = {resource.name: resource.draw for resource in system.shared_resources}
    modelled = [name for name in names if name in draws and not draws[name].traced]
    if modelled:
        message = (
            f"a unit asks for {modelled[0]}, a shared resource from which jobs draw by a model;"
            " only of one with 'draw: as_the_trace_says' the trace can ask for anything"
        )
        raise InputError(Finding("bad-value", message, Place(str(path)), key=key))
    return set(draws)


_FIRST_CHUNK, _LARGEST_CHUNK = 64, 4096
"""Numbers of records that are parsed before the policies are applied to them."""


class Record(NamedTuple):
    """Record of a log that is parsed by itself; times in seconds, -1 where a number is not given.

    Attributes
    ----------
    request
        Returns the request; raises UnusableError, or ValueError for a malformed one.
    details
        Numbers of user, group, application, queue and partition; texts are names, which are
        numbered as they appear in jobs.
    texts
        Names of the job, of its queue and of its partition.
    wait
        Recorded wait time.
    patience, begin_delay
        As in `Block`; the run time of a withdrawn job is its requested time.
    """

    job_id: int
    submit_time: int
    run_time: int
    requested_time: int
    request: Callable[[], Request]
    details: Sequence[int | str | None] = (None,) * len(NUMBERED)
    texts: Sequence[str | None] = (None,) * len(TEXTS)
    wait: int = -1
    patience: int = -1
    begin_delay: int = 0


class _Read(NamedTuple):
    """Outcome of a reading: a record and its request, or its fault, and clippings by name."""

    path: Path
    line: int
    found: Record | UnusableError
    request: ReadRequest | None
    changes: list[str]


class RecordSource(LogSource):
    """Log source that parses one record after the other.

    Attributes
    ----------
    position
        Position of the record that is being read, from 1.
    changes
        Clippings of this record, by name; `parse` adds to them.
    """

    position = 0

    def __init__(self, policies: RecordPolicies, system: System, records: Any) -> None:
        super().__init__(policies, system, records)
        self.changes: list[str] = []
        self._records = records

    @abstractmethod
    def parse(self, line: Any) -> Record:
        """Return the content of a record; raises UnusableError, or ValueError for a malformed one.

        Parameters
        ----------
        line
            A record as `records` yields it, such as the text of a line.
        """

    def blocks(self, most: int | None) -> Iterator[Block]:
        """Yield the records of the log; those before an error come before it."""
        self.position = 0
        # The first jobs are wanted soon; later ones are read faster in large numbers.
        size, largest = _FIRST_CHUNK, min(_LARGEST_CHUNK, most or _LARGEST_CHUNK)
        with closing(self._records.records()) as records:
            fault: Exception | None = None
            while fault is None:
                size = min(size, largest)
                read: list[_Read] = []
                try:
                    for number, line in islice(records, size):
                        self.position += 1
                        read.append(self._parsed(number, line))
                except InputError as error:
                    fault = error
                if read:
                    yield _block(read)
                if fault is None and len(read) < size:
                    return
                size *= 2
            raise fault

    def _parsed(self, number: int, line: Any) -> _Read:
        self.seconds.rounded = False
        self.changes = []
        found: Record | UnusableError
        request = None
        try:
            found = self.parse(line)
        except (UnusableError, ValueError) as error:
            found = _unusable(error)
        else:
            try:
                request = ReadRequest(found.request())
            except (UnusableError, ValueError) as error:
                request = ReadRequest(NO_REQUEST, _unusable(error))
        self.changes += ["fractional_seconds"] * self.seconds.rounded
        return _Read(self.lines.path, number, found, request, self.changes)


def _unusable(error: UnusableError | ValueError) -> UnusableError:
    return error if isinstance(error, UnusableError) else UnusableError("malformed", str(error))


def _block(read: Sequence[_Read]) -> Block:
    found = [one.found for one in read]
    faults = {k: one for k, one in enumerate(found) if isinstance(one, UnusableError)}
    none = Record(-1, -1, -1, -1, lambda: NO_REQUEST)
    records = [none if isinstance(one, UnusableError) else one for one in found]
    verdicts = np.full(len(read), Verdict.JOB, dtype=np.int8)
    verdicts[list(faults)] = Verdict.NO_RECORD
    known: dict[ReadRequest, int] = {}
    request = [
        -1 if one.request is None else known.setdefault(one.request, len(known)) for one in read
    ]
    job_id, submit_time, run_time, requested_time = np.ascontiguousarray(
        np.array([record[:4] for record in records], dtype=np.int64).T
    )
    details = [[n if isinstance(n, int) else -1 for n in record.details] for record in records]
    named = {d for r in records for d, value in enumerate(r.details) if isinstance(value, str)}
    texts = {
        name: partial(_text, records, n)
        for n, name in enumerate(TEXTS)
        if any(record.texts[n] is not None for record in records)
    }
    return Block(
        lambda k: read[k].path,
        np.array([one.line for one in read], dtype=np.int64),
        verdicts,
        job_id,
        submit_time,
        run_time,
        requested_time,
        np.array(request, dtype=np.int64),
        list(known),
        np.array(details, dtype=np.int64).T,
        np.zeros(len(read), dtype=np.int64),
        faults,
        {k: one.changes for k, one in enumerate(read) if one.changes},
        texts=texts,
        named={d: partial(_detail, records, d) for d in sorted(named)},
        wait=lambda k: records[k].wait,
        patience=np.array([record.patience for record in records], dtype=np.int64),
        begin_delay=np.array([record.begin_delay for record in records], dtype=np.int64),
    )


def _text(records: Sequence[Record], n: int, k: int) -> str | None:
    return records[k].texts[n]


def _detail(records: Sequence[Record], n: int, k: int) -> str:
    return str(records[k].details[n] or "")
