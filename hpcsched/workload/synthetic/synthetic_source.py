"""Trace source with jobs from a generator."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hpcsched.errors import Finding, InputError
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount


class SyntheticSource:
    """Stream of the jobs of a generator, without those that do not fit on the idle system.

    Parameters
    ----------
    count
        Number of generated jobs; None if unknown.
    uniform_request
        Unit request of every job; None if they differ.
    """

    def __init__(
        self,
        generate: Callable[[], Iterator[TracedJob]],
        system: System,
        *,
        comments: Sequence[str] = (),
        count: int | None = None,
        files: Sequence[Path] = (),
        uniform_request: tuple[int, ...] | None = None,
    ) -> None:
        self.account = TraceAccount()
        self.comments = comments
        self.files = files
        self.uniform_request = uniform_request
        self._generate = generate
        self._system = system
        self._count = count

    @property
    def fraction_read(self) -> float | None:
        """Fraction of the jobs that have been generated, from 0 to 1; None if unknown."""
        return self.account.read / self._count if self._count else None

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs by ascending submit time, the same ones at each call."""
        account = TraceAccount()
        self.account = account
        for traced in self._generate():
            account.read += 1
            # Restrictions of placement are left aside, as in the log that a workload mimics.
            if traced.job.units > room_for(self._system, traced.job.unit_request):
                account.skipped["larger_than_system"] += 1
                continue
            account.submitted += 1
            yield traced


def checked_request(system: System, amounts: Mapping[str, int], whose: str) -> tuple[int, ...]:
    """Return a unit request in the system's units.

    Parameters
    ----------
    amounts
        Declared amounts by resource type.
    """
    lacking = [name for name in amounts if name not in system.resource_types]
    if lacking:
        raise InputError(
            Finding(
                "unknown-resource-type",
                f"{whose} asks for {', '.join(lacking)}, which no node group has; there are:"
                f" {', '.join(system.resource_types)}",
                key="trace",
            )
        )
    return system.request(amounts)
