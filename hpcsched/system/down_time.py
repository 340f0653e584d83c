"""Down time of nodes: intervals in which they are out of service, as arrays."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from hpcsched.system.node_outages import Outage
from hpcsched.system.system import IntArray


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
        length: IntArray = np.minimum(self.end, end) - np.maximum(self.start, begin)
        return np.maximum(length, 0)


def down_time(outages: Iterable[Outage]) -> DownTime:
    """Return the intervals in which each node is out of service, for any reason."""
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
