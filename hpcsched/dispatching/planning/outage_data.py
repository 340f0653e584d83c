"""Announced outages in a model's terms: intervals in steps in which nodes are closed.

An outage lasts whole steps: from the one in which it begins to the one in which it ends.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.system.system import IntArray

MOST = 4096
"""Number of outages of single nodes that are considered, or two of each node where that is more.

Plans may reach far, but what lies beyond that will be planned anew many times. Each outage is one
more stretch of time that compiled code looks through and solvers count.
"""


class OutageInterval(NamedTuple):
    """Nodes of a model that are closed from step `begin` up to, not including, step `end`."""

    begin: int
    end: int
    nodes: IntArray


class OutageData(NamedTuple):
    """`K` outages of single nodes, apart from each other, in order of begin and node.

    Attributes
    ----------
    nodes
        Node of the model, `[K]`.
    begins, ends
        The node is closed from step `begins[k]` up to, not including, `ends[k]`; both `[K]`.
    """

    nodes: IntArray
    begins: IntArray
    ends: IntArray

    def first_begins(self, node_count: int) -> IntArray:
        """Return each node's first closed step, `[N]`; the largest integer if there is none."""
        first = np.full(node_count, np.iinfo(np.int64).max)
        np.minimum.at(first, self.nodes, self.begins)
        return first

    def until(self, horizon: int) -> "OutageData":
        """Return the outages before a horizon, cut off there."""
        some = self.begins < horizon
        ends = np.minimum(self.ends[some], horizon)
        return OutageData(self.nodes[some], self.begins[some], ends)


def outage_intervals_of(
    problem: DispatchingProblem, nodes: IntArray, step: int, *, everywhere: bool = False
) -> tuple[OutageInterval, ...]:
    """Return the announced outages of some nodes, by their begin.

    Parameters
    ----------
    nodes
        Numbers of the system's nodes, `[N]`; their positions are the node numbers of the model.
    step
        Seconds in a step.
    everywhere
        Return outages of other nodes too, as intervals without nodes.

    Notes
    -----
    Of very many outages, those furthest off are left out (see `MOST`).
    """
    if not problem.outages:
        return ()
    place = np.full(problem.system.node_count, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    found: list[OutageInterval] = []
    count, most = 0, max(MOST, 2 * len(nodes))
    for outage in problem.outages:
        places = place[np.array(outage.nodes, dtype=np.int64)]
        places = places[places >= 0]
        if not (len(places) or everywhere):
            continue
        count += len(places)
        if count > most and found:
            break
        # Outwards in both directions: a job must not overlap a second of the outage.
        begin = max(outage.start - problem.now, 0) // step
        found.append(OutageInterval(begin, -(-(outage.end - problem.now) // step), places))
    return tuple(found)


def horizon_after_outages(
    outage_intervals: Sequence[OutageInterval], horizon: int, serial: int
) -> int:
    """Return the horizon beyond which no job needs to end, though nodes are closed for a while.

    If an outage begins before the horizon, no job needs to end later than if all jobs began once it
    is over.

    Parameters
    ----------
    horizon
        The horizon that is right without outages, in steps.
    """
    grown = True
    # A later horizon can take in further outages, so until nothing changes.
    while grown:
        reached = [
            interval.end + serial for interval in outage_intervals if interval.begin < horizon
        ]
        grown = max(reached, default=0) > horizon
        horizon = max([horizon, *reached])
    return horizon


def outage_data(outage_intervals: Sequence[OutageInterval], horizon: int) -> OutageData | None:
    """Return the outages that begin before a horizon, node by node; None if there are none.

    Outages of one node that meet or overlap become one.
    """
    near = [
        interval
        for interval in outage_intervals
        if interval.begin < horizon and len(interval.nodes)
    ]
    if not near:
        return None
    nodes, begins, ends = single_outages(near)
    order = np.lexsort((begins, nodes))
    nodes, begins, ends = nodes[order], begins[order], ends[order]
    # One line that joins nodes and times: what meets or overlaps on it does so on a node.
    length = int(ends.max()) + 1
    reached = np.maximum.accumulate(nodes * length + ends)
    apart = np.concatenate(([True], (nodes * length + begins)[1:] > reached[:-1]))
    first = apart.nonzero()[0]
    last = np.append(first[1:], len(nodes)) - 1
    nodes, begins, ends = nodes[first], begins[first], reached[last] % length
    order = np.lexsort((nodes, begins))
    return OutageData(nodes[order], begins[order], ends[order])


def single_outages(outage_intervals: Sequence[OutageInterval]) -> OutageData:
    """Return the outages node by node, in the order of the intervals."""
    counts = [len(interval.nodes) for interval in outage_intervals]
    none = np.empty(0, dtype=np.int64)
    return OutageData(
        np.concatenate([none, *(interval.nodes for interval in outage_intervals)]),
        np.repeat(
            np.array([interval.begin for interval in outage_intervals], dtype=np.int64), counts
        ),
        np.repeat(
            np.array([interval.end for interval in outage_intervals], dtype=np.int64), counts
        ),
    )
