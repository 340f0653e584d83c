"""Trace source `slurm-history`: jobs that Slurm has completed.

It asks slurmdbd through slurmrestd, or reads a file, which may be packed by gzip. Files are of two
kinds, which it tells apart by their beginning: what Slurm's plugin `jobcomp/filetxt` writes
(`JobCompLoc`), a line a job without generic resources; and what slurmdbd answers as JSON, which
`sacct --allusers --json` prints.
"""

import gzip
import json
import logging
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from hpcsched import (
    Finding,
    InputError,
    Job,
    Place,
    Request,
    System,
    TraceAccount,
    TraceAnswer,
    TracedJob,
    room_for,
)
from hpcsched.workload.readers.quantities import parse_count
from hpcsched_slurm.accounting_answer import (
    NO_RECORD,
    AccountingAnswer,
    ask_accounting,
    earlier_answer,
    record_of,
)
from hpcsched_slurm.arrays import first_array_number
from hpcsched_slurm.params import SlurmHistoryParams
from hpcsched_slurm.reading_jobs import number_of
from hpcsched_slurm.reservations import local_instant
from hpcsched_slurm.syntax.gres import GRES, counted_in_total, parse_tres, resource_type
from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_time_limit
from hpcsched_slurm.versions import check_version

_COMPLETED = re.compile(
    r"JobId=(?P<JobIDRaw>\d+) UserId=(?P<User>.*?)\((?P<UID>\d+)\) GroupId=.*?\((?P<GID>\d+)\)"
    r" Name=(?P<JobName>.*?) JobState=(?P<State>\w+) Partition=(?P<Partition>\S+)"
    r" TimeLimit=(?P<TimelimitRaw>\S+) StartTime=(?P<Start>\S+) EndTime=(?P<End>\S+)"
    r" NodeList=\S* NodeCnt=(?P<NNodes>\d+) ProcCnt=(?P<NCPUS>\d+) WorkDir=.*?"
    r" Tres=(?P<AllocTRES>\S*) .*?SubmitTime=(?P<Submit>\S+)"
    r"(?:.*? ArrayJobId=(?P<array>\d+) ArrayTaskId=(?P<task>\d+))?.*"
)
_BEGIN = "JobId="
_GZIP = b"\x1f\x8b"
_LOOKED_AT = 100
"""Lines among which one shows that a file is of `jobcomp/filetxt`: it may begin within a line."""


class HistoryRecord(NamedTuple):
    """Record of a job.

    Attributes
    ----------
    fields
        Values by their names in sacct; None: the record cannot be read.
    line
        Its line in the file; None: it has none.
    """

    fields: Mapping[str, str | None] | None
    line: int | None = None
    fault: str = ""


def read_history(path: Path) -> Iterator[HistoryRecord]:
    """Yield the records of a file.

    Raises
    ------
    InputError
        If the file cannot be read, or is of neither kind.
    """
    text = _text_of(path)
    if text.lstrip().startswith("{"):
        for job in _listed(text, path):
            record = record_of(job)
            yield HistoryRecord(record, fault="" if record else NO_RECORD)
        return
    lines = text.splitlines()
    if any(line.startswith(_BEGIN) for line in lines[:_LOOKED_AT]):
        for number, line in enumerate(lines, 1):
            if line.strip():
                match = _COMPLETED.fullmatch(line.rstrip())
                fault = "" if match else f"expected a line of jobcomp/filetxt, found {line[:60]!r}"
                yield HistoryRecord(match and match.groupdict(), number, fault)
        return
    first = next((line for line in lines if line.strip()), None)
    if first is not None:
        cause = f"found {first[:60]!r}"
        message = f"expected a file of jobcomp/filetxt, or output of sacct --json; {cause}"
        raise InputError(Finding("malformed", message, Place(str(path), 1)))


def _text_of(path: Path) -> str:
    try:
        content = path.read_bytes()
        if content.startswith(_GZIP):
            content = gzip.decompress(content)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        message = f"expected a whole gzip file: {error}"
        raise InputError(Finding("damaged-trace", message, Place(str(path)))) from None
    except OSError as error:
        message = f"it cannot be read: {error.strerror}"
        raise InputError(Finding("unreadable-file", message, Place(str(path)))) from error
    return content.decode("utf-8-sig", errors="replace")


def _listed(text: str, path: Path) -> Sequence[object]:
    """Return the jobs of an answer of slurmdbd in a file."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        message = f"expected slurmdbd's answer as JSON, found {error}"
        raise InputError(Finding("malformed", message, Place(str(path)))) from error
    check_version(content, str(path))
    listed = content.get("jobs")
    if not isinstance(listed, list):
        message = "the answer of slurmdbd has no list of jobs"
        raise InputError(Finding("malformed", message, Place(str(path))))
    return listed


# Warnings of all parts of hpcsched are shown.
_log = logging.getLogger("hpcsched.slurm_history")
_NUMBER = re.compile(r"[0-9]{1,10}")


class _Ran(NamedTuple):
    """Job that ran, and its start in seconds since 1970."""

    start: int
    traced: TracedJob


class SlurmHistory:
    """The jobs of a history that ran, by submit time and number, in seconds since 1970.

    A job has a unit for each of its nodes, on nodes of their own.

    Skipped are `malformed` lines, jobs that `never_ran`, and those `larger_than_system`; of a job
    with several records all but the last that ran are `repeated`.
    """

    uniform_request: tuple[int, ...] | None = None
    fraction_read: float | None = None

    def __init__(self, params: SlurmHistoryParams, system: System) -> None:
        self._params = params
        self._path = None if params.path is None else Path(params.path)
        self._system = system
        self._answer: AccountingAnswer | None = None
        self._names: dict[int, str] = {}
        self.account = TraceAccount()

    @property
    def comments(self) -> Sequence[str]:
        """Names of the users seen so far, as comments of the Parallel Workloads Archive."""
        return [f"User: {number} {name}" for number, name in self._names.items()]

    @property
    def files(self) -> Sequence[Path]:
        """The history, if it is a file."""
        return [] if self._path is None else [self._path]

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return slurmdbd's answer, if it is asked: the fields of jobs that are used."""
        if self._params.rest is None:
            return []
        if self._answer is None:
            self._answer = ask_accounting(self._params.rest, self._params)
        return [self._answer.hashed]

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Read the jobs of an earlier run's answer; slurmdbd is not asked."""
        if self._params.rest is not None:
            (answer,) = answers
            self._answer = earlier_answer(answer)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs.

        Raises
        ------
        InputError
            If the file cannot be read, is of no such kind, or no job in it can be read.
        """
        self.account = account = TraceAccount()
        self._names = {}
        found: dict[int, _Ran] = {}
        first_fault: HistoryRecord | None = None
        for record in self._records():
            account.read += 1
            try:
                reason, ran = self._job(record)
            except ValueError as error:
                reason, ran = "malformed", None
                first_fault = first_fault or record._replace(fault=str(error))
            if ran is None:
                account.skipped[reason] += 1
                continue
            # A job that was requeued is there once for each time that it ran: the last one counts,
            # at whose end it was done.
            before = found.get(ran.traced.job.job_id)
            if before is not None:
                account.skipped["repeated"] += 1
            if before is None or before.start <= ran.start:
                found[ran.traced.job.job_id] = ran
        if first_fault is not None:
            fault = self._fault(first_fault)
            if not found:
                raise InputError(fault)
            _log.warning("%s: %s", fault.place, fault.message)
        jobs = sorted(
            (ran.traced for ran in found.values()),
            key=lambda traced: (traced.job.submit_time, traced.job.job_id),
        )
        if self._params.last is not None and jobs:
            first = jobs[-1].job.submit_time - self._params.last
            early = sum(traced.job.submit_time < first for traced in jobs)
            account.skipped["before_last"] += early
            jobs = jobs[early:]
        for traced in jobs:
            account.submitted += 1
            yield traced

    def _records(self) -> Iterator[HistoryRecord]:
        """Yield the records of the file, or of slurmdbd's answer."""
        self.read_answers()
        if self._path is not None:
            yield from read_history(self._path)
        elif self._answer is not None:
            for record in self._answer.records:
                yield HistoryRecord(record, fault="" if record else NO_RECORD)

    def _fault(self, record: HistoryRecord) -> Finding:
        """Return how many records cannot be read, and why the first cannot."""
        where = self._params.rest if self._path is None else str(self._path)
        bad, read = self.account.skipped["malformed"], self.account.read
        message = f"{bad} of {read} records are malformed and left out; the first: {record.fault}"
        return Finding("malformed", message, Place(str(where), record.line))

    def _job(self, record: HistoryRecord) -> tuple[str, "_Ran | None"]:
        """Return a job, or the reason why there is none."""
        if record.fields is None:
            raise ValueError(record.fault)
        text = {name: value or "" for name, value in record.fields.items()}
        if text["Start"].lower() in NOT_GIVEN or text["End"].lower() in NOT_GIVEN:
            return "never_ran", None
        submit, start, end = (_instant(text[name]) for name in ("Submit", "Start", "End"))
        units = max(1, parse_count(text["NNodes"], "NNodes"))
        amounts = _amounts(text["AllocTRES"], parse_count(text["NCPUS"], "NCPUS"), units)
        limit = parse_time_limit(text["TimelimitRaw"])
        number = _number_of_job(text["JobIDRaw"])
        if text.get("array"):
            number = first_array_number(int(text["array"])) + int(text["task"])
        request = Request(
            units=units,
            unit_request=self._system.request(
                {k: v for k, v in amounts.items() if k in self._system.resource_types}
            ),
            one_unit_per_node=units > 1,
        )
        job = Job(
            number,
            submit,
            request,
            limit or self._params.no_limit,
            user=int(text["UID"]),
            group=int(text["GID"]),
            application=number_of(text["JobName"]),
            partition=number_of(text["Partition"]),
            name=text["JobName"],
        )
        # Its limit does not count the time for which it was suspended.
        run_time = end - start - (parse_time_limit(text.get("Suspended", "")) or 0)
        if start < submit or run_time <= 0:
            return "never_ran", None
        if text.get("User"):
            self._names[int(text["UID"])] = text["User"]
        if not any(job.unit_request):
            return "larger_than_system", None
        if (
            room_for(self._system, job.unit_request, one_unit_per_node=job.one_unit_per_node)
            < units
        ):
            return "larger_than_system", None
        return "", _Ran(start, TracedJob(job, run_time))


def _number_of_job(text: str) -> int:
    """Return the number of a job; in a federation it may have ten digits."""
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"expected the number of a job as JobIDRaw, found {text!r}")
    return int(text)


def _instant(text: str) -> int:
    """Return a time in seconds since 1970; Slurm prints seconds, or the local time."""
    if text.isdecimal():
        return int(text)
    try:
        return local_instant(text)
    except ValueError:
        raise ValueError(f"expected a time such as 2024-03-01T12:00:00, found {text!r}") from None


def _amounts(tres: str, processors: int, units: int) -> dict[str, int]:
    """Return the amounts of a job on each of its nodes, rounded up."""
    totals = {"core": processors}
    listed = parse_tres(tres)
    for name, amount in listed.items():
        if name == "mem":
            totals[name] = amount
        elif name.startswith(GRES) and not counted_in_total(name, listed):
            kind = resource_type(name.removeprefix(GRES).partition(":")[0])
            totals[kind] = totals.get(kind, 0) + amount
    return {name: -(-amount // units) for name, amount in totals.items()}
