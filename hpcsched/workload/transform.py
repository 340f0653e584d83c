"""The protocol of a transform: what changes a trace on its way from the source to the simulator."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_account import TraceAccount


class TransformAccount:
    """What one transform tells of the jobs that it is given, and what it may know of the trace.

    `counts` has what comes in as `read`, and what goes out as `submitted`; both are counted by
    whoever asks the transform for jobs. `origin` is by how many seconds second 0 was moved, and
    `ended` the reason for which no more jobs are wanted, if that was said.
    """

    def __init__(self, comments: Callable[[], Sequence[str]] = tuple) -> None:
        self.counts = TraceAccount()
        self.origin = 0
        self.ended: str | None = None
        self._comments = comments

    @property
    def comments(self) -> Sequence[str]:
        """The header comments of the trace, complete once a job has been taken."""
        return self._comments()

    def skip(self, reason: str) -> None:
        """Count a job that is taken away; the reason names the transform or what it removes."""
        self.counts.skipped[reason] += 1

    def change(self, reason: str) -> None:
        """Count a job that is passed on with something changed."""
        self.counts.changed[reason] += 1

    def clip(self, policy: str) -> None:
        """Count a job that is passed on with less than the transform would have given it."""
        self.counts.clipped[policy] += 1

    def move_origin(self, seconds: int) -> None:
        """Say that second 0 now is what was this second, so that dates stay what they were."""
        self.origin = seconds

    def end(self, reason: str) -> None:
        """Say that no more jobs will be taken, although there may be some.

        What has been read by then and is still on its way counts as taken away for this reason.
        """
        self.ended = reason


class Transform(Protocol):
    """Changes a stream of jobs, keeping account of every job that it takes away or changes.

    It holds no more of the trace than it must. Nothing is kept from one call of `apply` to the
    next, since a trace may be read several times.
    """

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the jobs that remain, as they are or changed, by ascending submit time.

        Job numbers stay, and no job is added. To stop before the jobs are at an end is to say so by
        `account.end`. Raises InputError where the trace cannot be transformed.
        """
