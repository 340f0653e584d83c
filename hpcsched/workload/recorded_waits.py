"""Wait times recorded in a log, on request."""

from typing import Protocol, runtime_checkable

from hpcsched.workload.trace_source import TraceSource


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
