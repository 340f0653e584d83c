"""Protocol of transforms, which change a trace between the source and the simulator.

Random numbers that depend on a user or a job alone, not on the trace before it.
"""

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Protocol

from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount


class TransformAccount:
    """Account of one transform, and its view of the trace.

    Attributes
    ----------
    counts
        `read` counts incoming jobs and `submitted` outgoing ones; the caller of the transform
        counts both.
    origin
        Seconds by which second 0 was moved.
    ended
        Reason why no more jobs are wanted; None if there is none.
    """

    def __init__(self, comments: Callable[[], Sequence[str]] = tuple) -> None:
        self.counts = TraceAccount()
        self.origin = 0
        self.ended: str | None = None
        self._comments = comments

    @property
    def comments(self) -> Sequence[str]:
        """Header comments of the trace, complete once a job has been taken."""
        return self._comments()

    def skip(self, reason: str) -> None:
        """Count a job that is removed; the reason names the transform or the kind of job."""
        self.counts.skipped[reason] += 1

    def change(self, reason: str) -> None:
        """Count a job that is passed on with a change."""
        self.counts.changed[reason] += 1

    def clip(self, policy: str) -> None:
        """Count a job that is passed on with less than the transform would have given it."""
        self.counts.clipped[policy] += 1

    def move_origin(self, seconds: int) -> None:
        """Move second 0, so that dates stay as they were.

        Parameters
        ----------
        seconds
            Old time of the new second 0.
        """
        self.origin = seconds

    def end(self, reason: str) -> None:
        """Declare that no more jobs will be taken, although there may be some.

        Parameters
        ----------
        reason
            Reason under which jobs that have been read and not passed on count as skipped.
        """
        self.ended = reason


class Transform(Protocol):
    """Change of a stream of jobs, with an account of every removed or changed job.

    It holds no more of the trace than necessary, and keeps nothing from one call of `apply` to the
    next, since a trace may be read several times.
    """

    def apply(self, jobs: Iterator[TracedJob], account: TransformAccount) -> Iterator[TracedJob]:
        """Yield the remaining jobs, unchanged or changed, by ascending submit time.

        Job numbers stay, and no job is added. A transform that stops before the end of the jobs
        calls `account.end`.

        Parameters
        ----------
        jobs
            The jobs, by ascending submit time.

        Returns
        -------
        Iterator[TracedJob]
            Jobs by ascending submit time, in whole seconds; a job that is neither yielded nor
            counted ends the run.

        Raises
        ------
        InputError
            If the trace cannot be transformed.
        """


_BITS = 53
"""Number of bits of a float between 0 and 1."""


def own_seed(*labels: int | str) -> int:
    """Return a number from 0 to 2⁶⁴ − 1 that depends on labels alone, the same on every machine."""
    return int.from_bytes(sha256("/".join(map(str, labels)).encode()).digest()[:8])


def own_share(*labels: int | str) -> float:
    """Return a number from [0, 1) that depends on labels alone, uniformly distributed over them.

    Examples
    --------
    >>> round(own_share(1, "user", 7), 3)
    0.208
    """
    return (own_seed(*labels) >> (64 - _BITS)) / (1 << _BITS)
