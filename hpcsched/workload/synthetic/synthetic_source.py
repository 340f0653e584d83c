"""A trace source whose jobs are made up as they are asked for."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from hpcsched.errors import Finding, InputError
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_account import TraceAccount


class SyntheticSource:
    """Streams the jobs of a generator, skipping those that do not fit on the idle system.

    `generate` starts the same sequence anew at each call; `count` is how many jobs it makes in all,
    if that is known; `files` are those that it was fitted to.
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
        """How many of the jobs have been made, from 0 to 1; None where the number is unknown."""
        return self.account.read / self._count if self._count else None

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs by ascending submit time, the same ones at each call."""
        account = self.account = TraceAccount()
        rooms: dict[tuple[int, ...], int] = {}
        for traced in self._generate():
            account.read += 1
            request = traced.job.unit_request
            room = rooms.get(request)
            if room is None:
                room = rooms[request] = room_for(self._system, request)
            if traced.job.units > room:
                account.skipped["larger_than_system"] += 1
                continue
            account.submitted += 1
            yield traced


def checked_request(system: System, amounts: Mapping[str, int], whose: str) -> tuple[int, ...]:
    """Return a unit request; raises InputError naming `whose` it is if the system lacks a type."""
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
