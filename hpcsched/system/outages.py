"""Outages: intervals in which nodes are out of service, and the down time of each node.

Maintenance and advance reservations are announced: they are known from the start. Failures are not
announced: a node is suddenly gone, and returns some time later.
"""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

from hpcsched.system.system import IntArray, System

OutageKind = Literal["maintenance", "reservation", "failure"]


class Outage(NamedTuple):
    """Outage of some nodes, in the half-open interval from `start` to `end`.

    Attributes
    ----------
    start
        First second of the outage, since the trace's origin.
    end
        Second after the outage; above `start`.
    nodes
        Node numbers, ascending.
    name
        The user's name for it; may be empty.
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
        """Name for messages and reasons."""
        return f"{self.kind} {self.name}" if self.name else self.kind


class Outages(NamedTuple):
    """All outages of a run, ascending by start; possibly none.

    Attributes
    ----------
    requeue
        True: a job on a node that goes out of service is queued again and restarts from its
        beginning. False: it leaves the system as failed.
    """

    all: tuple[Outage, ...] = ()
    requeue: bool = True


NO_OUTAGES = Outages()
"""Outages of a system that is always in service."""


def node_numbers(system: System) -> dict[str, int]:
    """Return the number of each node by its name (see `System.node_name`)."""
    names = (f"{group.name}-{k}" for group in system.groups for k in range(group.count))
    return {name: number for number, name in enumerate(names)}


class DownTime(NamedTuple):
    """Disjoint intervals in which single nodes are out of service, `K` of them.

    Node `node[k]` is out of service from `start[k]` to `end[k]`, in seconds; intervals are ordered
    by node, then by time.
    """

    node: IntArray
    start: IntArray
    end: IntArray

    def within(self, begin: int, end: int) -> IntArray:
        """Return the seconds of each interval that lie between two instants, `[K]`.

        Parameters
        ----------
        begin
            First instant, in seconds.
        end
            Last instant, in seconds.
        """
        import numpy as np  # noqa: PLC0415 (see `IntArray`)

        length: IntArray = np.minimum(self.end, end) - np.maximum(self.start, begin)
        return np.maximum(length, 0)


def down_time(outages: Iterable[Outage]) -> DownTime:
    """Return the intervals in which each node is out of service, for any reason."""
    import numpy as np  # noqa: PLC0415 (see `IntArray`)

    # By node, then time: overlapping outages of a node are adjacent and can be merged.
    single = sorted((node, o.start, o.end) for o in outages for node in o.nodes)
    columns = np.array(list(_merged(single)), dtype=np.int64).reshape(-1, 3).T
    return DownTime(*columns)


def _merged(single: Iterable[tuple[int, int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield intervals by node and time, joined where they touch or overlap."""
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
