"""The protocol of a trace source."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_account import TraceAccount


def has_dependencies(source: "TraceSource") -> bool:
    """Say whether a source's jobs may wait for others to end (`Job.after`).

    Such a source has an attribute `dependencies` that is true; others need not have it.
    """
    return bool(getattr(source, "dependencies", False))


class TraceSource(Protocol):
    """Yields jobs in order of submission, and keeps account of every record.

    A source streams: it never holds more of the trace than it needs at once. `jobs` can be called
    again, which starts over with a fresh account.
    """

    @property
    def account(self) -> TraceAccount:
        """What became of the records read so far."""

    @property
    def comments(self) -> Sequence[str]:
        """The trace's own header, as far as it has been read."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read, so that a run can record their hashes."""

    @property
    def uniform_request(self) -> tuple[int, ...] | None:
        """The unit request of every job, where the source knows it to be one and unconstrained."""

    @property
    def fraction_read(self) -> float | None:
        """How much of the trace has been read, from 0 to 1; None where that is unknown."""

    def jobs(self) -> Iterator[TracedJob]:
        """Yield jobs by ascending submit time; raises InputError naming the trace line at fault."""
