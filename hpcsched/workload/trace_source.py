"""Protocol of trace sources, their account, recorded wait times, and answers of programs."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched._core import NumbersSeen
from hpcsched.workload.job import Job, TracedJob

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
    """Return a job without dependencies on jobs that do not come before it.

    Parameters
    ----------
    job
        The job; itself is returned if nothing changes.
    """
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
        """Return the answers that `jobs` reads; they are asked for once.

        Raises
        ------
        InputError
            If there is no answer.
        """

    def take_answers(self, answers: Sequence[TraceAnswer]) -> None:
        """Read `jobs` from the answers of an earlier run; nothing is asked for.

        Raises
        ------
        InputError
            If they are not answers to the present question.
        """


def answers_of(source: TraceSource) -> Sequence[TraceAnswer]:
    """Return the answers that a source reads in place of files."""
    return source.read_answers() if isinstance(source, ReadsAnswers) else ()


def answer_again(source: TraceSource, answers: Sequence[TraceAnswer]) -> None:
    """Have a source read the answers of an earlier run; nothing happens without any."""
    if answers and isinstance(source, ReadsAnswers):
        source.take_answers(answers)
