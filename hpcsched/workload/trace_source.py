"""Protocol of trace sources."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_account import TraceAccount


def has_dependencies(source: "TraceSource") -> bool:
    """Return whether a source's jobs may wait for others to end (`Job.after`).

    Such a source has a true attribute `dependencies`; others need not have it.
    """
    return bool(getattr(source, "dependencies", False))


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

        Raises
        ------
        InputError
            At an unusable record; the message names the trace line.
        """
