"""Progress of a replay: share of the jobs that have left the system, and the estimated rest."""

from time import monotonic
from typing import Protocol

from hpcsched.workload.trace_source import TraceAccount

LEAST = 1.0
"""Real seconds of replay before the rest is estimated."""


class Trace(Protocol):
    """The part of a trace source that progress needs."""

    @property
    def account(self) -> TraceAccount:
        """Account of the records read so far."""

    @property
    def fraction_read(self) -> float | None:
        """Share of the trace that has been read, from 0 to 1; None if unknown."""


class ReplayProgress:
    """Progress of a replay.

    The number of all jobs is estimated as the jobs read so far divided by the share of the trace
    that has been read. So it is exact once the trace has been read, as of sources that read a whole
    log before its first job.

    Parameters
    ----------
    most_jobs
        Largest number of jobs; None if unknown.
    """

    def __init__(self, trace: Trace, most_jobs: int | None = None) -> None:
        self._trace, self._most_jobs = trace, most_jobs
        self._began: tuple[float, float] | None = None

    def share(self, ended: int) -> float | None:
        """Return the share of the replay that is done, from 0 to 1; None if unknown."""
        shares = []
        fraction = self._trace.fraction_read
        if fraction is not None:
            account = self._trace.account
            jobs = account.read - account.skipped.total()
            shares.append(fraction * ended / jobs if jobs > 0 else 0.0)
        if self._most_jobs:
            shares.append(ended / self._most_jobs)
        return min(1.0, max(shares)) if shares else None

    def remaining(self, share: float | None) -> float | None:
        """Return the estimated real seconds until the end of the replay; None if unknown.

        Each call is an observation; the first is the beginning of the replay.

        Parameters
        ----------
        share
            Share of the replay that is done.
        """
        if share is None:
            return None
        now = monotonic()
        if self._began is None:
            self._began = now, share
        began, before = self._began
        if now - began < LEAST or share <= before:
            return None
        return (now - began) * (1 - share) / (share - before)
