"""Protocol of trace sources, their account, recorded wait times, and answers of programs."""

import re
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, runtime_checkable

from hpcsched._core import NumbersSeen
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import named
from hpcsched.system.system import Request, System
from hpcsched.workload.job import NUMBERED, Job, TracedJob

if TYPE_CHECKING:
    from hpcsched.workload.job_batches import JobColumns, RequestNumbers


UNKNOWN_PRECEDING = "unknown_preceding_job"
"""Count of the account: jobs that wait for nothing, as no job before them has the number."""

_VALUES = re.compile(r"'[^']*'|\"[^\"]*\"|[-+]?[0-9][0-9.]*")
_MOST_FAULTS = 5


@dataclass(slots=True)
class TraceAccount:
    """Counts of records as they are read; `read` is the sum of skipped and submitted ones.

    Attributes
    ----------
    skipped
        Records that gave no job, by reason; one reason a record.
    clipped
        Jobs changed by a policy, by its name; or by what was left out: `unknown_preceding_job`.
    faults
        Where the first malformed record of each kind is, and what is wrong with it; at most five.
    """

    read: int = 0
    submitted: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    clipped: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)
    faults: dict[str, str] = field(default_factory=dict)

    def note_fault(self, place: str, message: str) -> None:
        """Record a malformed record, unless one of its kind is known: other values are no other."""
        kind = _VALUES.sub("", message)
        if len(self.faults) < _MOST_FAULTS:
            self.faults.setdefault(kind, f"{place}: {message}")


def has_dependencies(source: "TraceSource") -> bool:
    """Return whether a source's jobs may wait for others to end (`Job.after`).

    Such a source has a true attribute `dependencies`; others need not have it.
    """
    return bool(getattr(source, "dependencies", False))


def without_unknown(job: Job, seen: "NumbersSeen") -> Job:
    """Return a job without dependencies on jobs that do not come before it."""
    after = tuple(number for number in job.after if number in seen)
    seen.add(job.job_id)
    if after == job.after:
        return job
    return job._replace(after=after, think_time=job.think_time if after else 0)


class TraceSource(Protocol):
    """Source of jobs in order of submission, with an account of every record.

    A source streams: it holds no more of the trace than necessary. `jobs` can be called again,
    which starts over with a fresh account.
    """

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far."""

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace read so far."""

    @property
    def files(self) -> Sequence[Path]:
        """Input files; a run records their hashes."""

    @property
    def uniform_request(self) -> tuple[int, ...] | None:
        """Unit request of all jobs; None unless the source knows that it is one, unrestricted."""

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the trace that has been read, from 0 to 1; None if unknown."""

    def jobs(self) -> Iterator[TracedJob]:
        """Yield jobs by ascending submit time.

        Returns
        -------
        Iterator[TracedJob]
            Jobs with their real run times, in whole seconds from the trace's second 0; amounts in
            the order of the system's resource types, `[R]`.

        Raises
        ------
        InputError
            At an unusable record; the message names the trace line.
        """


@runtime_checkable
class RecordsWaits(Protocol):
    """Trace source with wait times in its log."""

    def keep_waits(self) -> dict[int, int] | None:
        """Return the mapping of wait times that `jobs` fills.

        Returns
        -------
        dict or None
            Seconds by job number, without jobs that have no recorded wait; None if the source has
            no wait times after all.
        """


def recorded_waits(source: TraceSource) -> dict[int, int] | None:
    """Return the mapping of a source's wait times; None if it cannot provide any."""
    return source.keep_waits() if isinstance(source, RecordsWaits) else None


class SiteBlocks(NamedTuple):
    """A site as its own files describe it.

    Attributes
    ----------
    system
        Blocks of a scenario beside `trace`, `predictor` and `dispatcher`, as YAML.
    dispatcher
        The block `dispatcher`, as YAML.
    about
        Size of the site and its source, in words.
    left_out
        Sentences on settings that the blocks do not have.
    causes
        Sentences on what the log tells of jobs that waited for other reasons than the blocks have.
    """

    system: str
    dispatcher: str
    about: str
    left_out: tuple[str, ...] = ()
    causes: tuple[str, ...] = ()

    @property
    def lines(self) -> list[str]:
        """Lines of `system`."""
        return self.system.splitlines()


@runtime_checkable
class DescribesSite(Protocol):
    """Trace source that understands other files of the site whose log it reads."""

    def describe_site(self, configuration: Path, tables: Sequence[Path]) -> SiteBlocks | None:
        """Return the site; called once the jobs were read.

        Parameters
        ----------
        configuration
            File with nodes, partitions and settings of the scheduler.
        tables
            Files with accounts, users and limits.
        """


def described_site(
    source: TraceSource, configuration: Path, tables: Sequence[Path]
) -> SiteBlocks | None:
    """Return the site of a source's log; None if the source understands no such files."""
    if not isinstance(source, DescribesSite):
        return None
    return source.describe_site(configuration, tables)


class TraceAnswer(NamedTuple):
    """Answer of a program that a trace is read from in place of a file.

    Attributes
    ----------
    name
        The program and the question, such as `unix:/run/slurmrestd.socket/slurmdb/jobs`.
    content
        The answer, as far as the trace depends on it; a run records its hash.
    """

    name: str
    content: bytes


@runtime_checkable
class ReadsAnswers(Protocol):
    """Trace source that may ask a program for its jobs."""

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return the answers that `jobs` reads; they are asked for once."""

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Read `jobs` from the answers of an earlier run; nothing is asked for."""


def answers_of(source: TraceSource) -> Sequence[TraceAnswer]:
    """Return the answers that a source reads in place of files."""
    return source.read_answers() if isinstance(source, ReadsAnswers) else ()


def answer_again(source: TraceSource, answers: Sequence[TraceAnswer]) -> None:
    """Have a source read the answers of an earlier run; nothing happens without any."""
    if answers and isinstance(source, ReadsAnswers):
        source.take_answers(answers)


_Item = TypeVar("_Item")


class CheckedSource:
    """Trace source with checks of its records and attributes."""

    def __init__(self, source: TraceSource, system: System) -> None:
        self._source, self._system = source, system

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far."""
        account = self._source.account
        if not isinstance(account, TraceAccount):
            raise self._fault(f"expected a TraceAccount as account, found {account!r}")
        return account

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace read so far."""
        return self._sequence("comments", self._source.comments, str)

    @property
    def files(self) -> Sequence[Path]:
        """Input files."""
        return self._sequence("files", self._source.files, Path)

    def read_answers(self) -> Sequence[TraceAnswer]:
        """Return the answers that the source reads in place of files."""
        return self._sequence("read_answers()", answers_of(self._source), TraceAnswer)

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Have the source read the answers of an earlier run."""
        answer_again(self._source, answers)

    @property
    def uniform_request(self) -> tuple[int, ...] | None:
        """Unit request of all jobs; None unless the source knows it."""
        uniform = self._source.uniform_request
        if uniform is not None:
            fault = amounts_fault(uniform, self._system)
            if fault is not None:
                raise self._fault(f"uniform_request: {fault}")
        return uniform

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the trace that has been read, from 0 to 1; None if unknown."""
        fraction = self._source.fraction_read
        if fraction is not None and not (isinstance(fraction, Real) and 0 <= fraction <= 1):
            raise self._fault(
                f"expected a number from 0 to 1, or None, as fraction_read, found {fraction!r}"
            )
        return fraction

    @property
    def dependencies(self) -> bool:
        """True if jobs may wait for others to end."""
        return has_dependencies(self._source)

    def keep_waits(self) -> dict[int, int] | None:
        """Return the mapping of wait times that `jobs` fills; None if there are none."""
        return recorded_waits(self._source)

    def describe_site(self, configuration: Path, tables: Sequence[Path]) -> SiteBlocks | None:
        """Return the site that files describe; None if the source understands none."""
        return described_site(self._source, configuration, tables)

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs."""
        latest, count = 0, 0
        numbers, uniform = NumbersSeen(), self.uniform_request
        jobs = self._source.jobs()
        if not isinstance(jobs, Iterable):
            raise self._fault(f"expected jobs() to yield jobs, found {jobs!r}")
        try:
            for traced in jobs:
                fault = job_fault(traced, latest, self._system)
                if fault is None:
                    fault = self._fault_among(traced.job, numbers, uniform)
                if fault is not None:
                    raise self._fault(fault)
                latest = traced.job.submit_time
                count += 1
                yield traced
        finally:
            # The error about a record holds the generator, and so the file that it has open.
            if isinstance(jobs, Generator):
                jobs.close()
        fault = account_fault(self.account, count)
        if fault is not None:
            raise self._fault(fault)

    def _fault_among(
        self, job: Job, numbers: NumbersSeen, uniform: tuple[int, ...] | None
    ) -> str | None:
        """Return why a job does not go with the others and with the attributes, or None."""
        whose = f"job {job.job_id}"
        if not numbers.add(job.job_id):
            return f"{whose}: expected each number once, found it twice"
        if uniform is not None and job.unit_request != uniform:
            return f"{whose}: expected the uniform request {uniform}, found {job.unit_request}"
        if job.after and not self.dependencies:
            return (
                f"{whose}: expected no 'after' without an attribute 'dependencies' that is true,"
                f" found {job.after}"
            )
        return None

    def _sequence(self, name: str, found: Sequence[_Item], of: type[_Item]) -> Sequence[_Item]:
        is_sequence = isinstance(found, Sequence) and not isinstance(found, str)
        if not (is_sequence and all(isinstance(one, of) for one in found)):
            raise self._fault(f"expected a sequence of {of.__name__} as {name}, found {found!r}")
        return found

    def _fault(self, what: str) -> PluginError:
        return PluginError(f"{named('trace_source', self._source)}: {what}")


class CheckedColumnSource(CheckedSource):
    """Checked source that yields columns as well, which are passed on as they are."""

    def job_columns(self, numbers: "RequestNumbers") -> "Iterator[JobColumns]":
        """Yield the jobs in batches."""
        # It imports pyarrow, which a scenario that is only checked does without.
        from hpcsched.workload.job_batches import JobColumns  # noqa: PLC0415

        source: Any = self._source
        for columns in source.job_columns(numbers):
            if not isinstance(columns, JobColumns):
                raise self._fault(f"expected job_columns() to yield JobColumns, found {columns!r}")
            yield columns


def checked_source(source: TraceSource, system: System) -> TraceSource:
    """Return a source around another, with checks of every job."""
    if hasattr(source, "job_columns"):
        return CheckedColumnSource(source, system)
    return CheckedSource(source, system)


def account_fault(account: TraceAccount, count: int) -> str | None:
    """Return why an account does not fit a trace of `count` jobs; None if it does."""
    if account.submitted != count:
        return f"account: expected {count} submitted, as many as jobs, found {account.submitted}"
    if account.read != account.submitted + account.skipped.total():
        return (
            f"account: expected every record submitted or skipped, found {account.read} read,"
            f" {account.submitted} submitted and {account.skipped.total()} skipped"
        )
    return None


def amounts_fault(amounts: object, system: System) -> str | None:
    """Return why a value is no request of a unit on a system; None if it is one."""
    types = system.resource_types
    if not isinstance(amounts, tuple) or len(amounts) != len(types):
        return f"expected a tuple with an amount of each of {', '.join(types)}, found {amounts!r}"
    if not any(amounts):
        return f"expected a unit that asks for some of {', '.join(types)}, found {amounts!r}"
    return None


def job_fault(traced: object, latest: int, system: System | None = None) -> str | None:
    """Return why a record of a trace cannot be used; None if it can.

    Parameters
    ----------
    latest
        Submit time of the record before, in seconds.
    system
        The system that it asks for, if it is known.
    """
    if not isinstance(traced, TracedJob) or not isinstance(traced.job, Job):
        return f"expected a TracedJob with a Job, found {traced!r}"
    job, run_time = traced
    whose = f"job {job.job_id}"
    if not isinstance(job.request, Request):
        return f"{whose}: expected a Request, found {job.request!r}"
    for name, value, least in (
        ("job_id", job.job_id, 0),
        ("submit_time", job.submit_time, 0),
        ("requested_time", job.requested_time, 1),
        ("run_time", run_time, 0),
        ("begin_delay", job.begin_delay, 0),
        ("patience", 0 if job.patience is None else job.patience, 0),
        ("units", job.request.units, 1),
        *(("unit_request", amount, 0) for amount in job.request.unit_request),
        *((name, number, 0) for name in NUMBERED if (number := getattr(job, name)) is not None),
    ):
        # Not isinstance: numpy integers would leak into results.
        if type(value) is not int or value < least:
            return f"{whose}: expected a whole {name} of at least {least}, found {value!r}"
    if job.submit_time < latest:
        return out_of_order(traced, latest)
    fault = None if system is None else _placing_fault(job.request, system)
    return None if fault is None else f"{whose}: {fault}"


def _placing_fault(request: Request, system: System) -> str | None:
    """Return why a request cannot be of a system; None if it can, even if it is too large."""
    fault = amounts_fault(request.unit_request, system)
    if fault is not None:
        return fault
    groups = {group.name for group in system.groups}
    if request.node_groups is not None and not request.node_groups <= groups:
        strange = sorted(request.node_groups - groups)
        return f"expected node groups among {', '.join(sorted(groups))}, found {strange}"
    if request.allowed_nodes is not None:
        last = system.node_count - 1
        unknown = sorted(node for node in request.allowed_nodes if not 0 <= node <= last)
        if unknown:
            return f"expected nodes from 0 to {last}, found {unknown}"
    return None


def out_of_order(traced: TracedJob, latest: int) -> str:
    """Return the fault of a job that is submitted before `latest`, in seconds."""
    return (
        f"expected jobs by ascending submit time, found job {traced.job.job_id} at"
        f" {traced.job.submit_time} after one at {latest}"
    )
