"""Outages: when which nodes are out of service, and what is known of that in advance.

Maintenance and advance reservations are announced: everybody knows of them from the start. Failures
are not: a node is simply gone, and back some time later.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

import numpy as np

from hpcsched.system.system import IntArray, System

OutageKind = Literal["maintenance", "reservation", "failure"]
OUTAGE_KINDS: tuple[OutageKind, ...] = get_args(OutageKind)


class Outage(NamedTuple):
    """Some nodes that are out of service from `start` up to, and not including, `end`.

    Times are in seconds since the trace's origin, and `start` is before `end`; `nodes` are node
    numbers, ascending. `name` is the user's, and may be empty.
    """

    start: int
    end: int
    nodes: tuple[int, ...]
    kind: OutageKind
    name: str = ""

    @property
    def announced(self) -> bool:
        """Whether it is known in advance."""
        return self.kind != "failure"

    @property
    def label(self) -> str:
        """What it is called in messages and reasons."""
        return f"{self.kind} {self.name}" if self.name else self.kind


class Outages(NamedTuple):
    """All outages of a run, by start; maybe none.

    With `requeue`, a job whose node goes out of service goes back into the queue, and is run again
    from its beginning; otherwise it leaves the system as failed.
    """

    all: tuple[Outage, ...] = ()
    requeue: bool = True


NO_OUTAGES = Outages()
"""What a system has that is in service all the time."""


class DownTime(NamedTuple):
    """Times at which single nodes are out of service: `K` of them, apart from each other.

    Node `node[k]` is from `start[k]` to `end[k]`, in seconds; they are in order of nodes, and of
    time within a node.
    """

    node: IntArray
    start: IntArray
    end: IntArray

    def within(self, begin: int, end: int) -> IntArray:
        """Return how much of each lies between two instants, in seconds, `[K]`."""
        length: IntArray = np.minimum(self.end, end) - np.maximum(self.start, begin)
        return np.maximum(length, 0)


def down_time(outages: Iterable[Outage]) -> DownTime:
    """Return when each node is out of service, for whatever reasons."""
    single = sorted((node, o.start, o.end) for o in outages for node in o.nodes)
    columns = np.array(list(_merged(single)), dtype=np.int64).reshape(-1, 3).T
    return DownTime(*columns)


def node_numbers(system: System) -> dict[str, int]:
    """Return the number of each node by its name (see `System.node_name`)."""
    names = (f"{group.name}-{k}" for group in system.groups for k in range(group.count))
    return {name: number for number, name in enumerate(names)}


def _merged(single: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield node, start and end in that order, joined where they meet or overlap."""
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
