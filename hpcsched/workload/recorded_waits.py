"""The wait times that a log records of its jobs, for those who ask for them."""

from typing import Protocol, runtime_checkable

from hpcsched.workload.trace_source import TraceSource


@runtime_checkable
class RecordsWaits(Protocol):
    """A trace source whose log says how long jobs waited."""

    def keep_waits(self) -> dict[int, int] | None:
        """Return the wait times by job number, in seconds, which `jobs` fills in as it goes.

        A job whose wait is not recorded is not in it. None: the source keeps none after all.
        """


def recorded_waits(source: TraceSource) -> dict[int, int] | None:
    """Return what a source's `keep_waits` returns; None where it has no such method."""
    return source.keep_waits() if isinstance(source, RecordsWaits) else None
