"""Outages: intervals in which nodes are out of service, announced or not.

Maintenance and advance reservations are announced: dispatchers know them from the start. Failures
are not: a node is gone, and back some time later.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from hpcsched.system.system import IntArray, System

OutageKind = Literal["maintenance", "reservation", "failure"]


class Outage(NamedTuple):
    """Interval in which some nodes are out of service.

    Attributes
    ----------
    start, end
        Seconds since the origin of the trace; `start` is before `end`, which is not included.
    nodes
        Node numbers, ascending.
    kind
        Maintenance, reservation or failure.
    name
        The user's name; may be empty.
    """

    start: int
    end: int
    nodes: tuple[int, ...]
    kind: OutageKind
    name: str = ""

    @property
    def announced(self) -> bool:
        """True if the outage is known in advance."""
        return self.kind != "failure"

    @property
    def label(self) -> str:
        """Name in messages and reasons."""
        return f"{self.kind} {self.name}" if self.name else self.kind


class Outages(NamedTuple):
    """All outages of a run, by start.

    Attributes
    ----------
    requeue
        True: a job whose node goes out of service is queued again, and run from its beginning.
        False: it leaves the system as failed.
    """

    all: tuple[Outage, ...] = ()
    requeue: bool = True


NO_OUTAGES = Outages()
"""Outages of a system that is in service all the time."""


class DownTime(NamedTuple):
    """Disjoint intervals in which single nodes are out of service, `[K]`.

    Sorted by node, and by time within a node; `start` and `end` are in seconds.
    """

    node: IntArray
    start: IntArray
    end: IntArray

    def within(self, begin: int, end: int) -> IntArray:
        """Return the length of each interval between two instants, in seconds, `[K]`."""
        length: IntArray = np.minimum(self.end, end) - np.maximum(self.start, begin)
        return np.maximum(length, 0)


def down_time(outages: Iterable[Outage]) -> DownTime:
    """Return the intervals in which each node is out of service, for any reason."""
    single = sorted((node, o.start, o.end) for o in outages for node in o.nodes)
    columns = np.array(list(_merged(single)), dtype=np.int64).reshape(-1, 3).T
    return DownTime(*columns)


def node_numbers(system: System) -> dict[str, int]:
    """Return the number of each node by its name (see `System.node_name`)."""
    names = (f"{group.name}-{k}" for group in system.groups for k in range(group.count))
    return {name: number for number, name in enumerate(names)}


def _merged(single: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield node, start and end in order, merged where intervals meet or overlap."""
    last: tuple[int, int, int] | None = None
    for node, start, end in single:
        if last is not None and last[0] == node and start <= last[2]:
            last = node, last[1], max(last[2], end)
            continue
        if last is not None:
            yield last
        last = node, start, end
    if last is not None:
        yield last
