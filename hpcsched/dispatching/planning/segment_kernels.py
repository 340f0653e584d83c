"""Compiled: free resources during list scheduling, and the way back to earlier states.

Free amounts on nodes are linked segments as in `plan_kernels`; where units are
counted, they are a row of segments as in `row_kernels`. Where nothing is free for ever, a job may
never fit.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.plan_kernels import take_on
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


class Content(NamedTuple):
    """Jobs and nodes of `ModelData`, draws from shared resources, and release times.

    Attributes
    ----------
    aggregated
        Whether units are counted, so that nodes are not distinguished.
    units, requests, run_times, room, capacity, totals
        As in `ModelData`.
    draws
        Amount that each job draws from each shared resource, `[J, P]`.
    releases
        Step before which no job is planned, `[J]`.
    """

    aggregated: bool
    units: IntArray
    requests: IntArray
    run_times: IntArray
    room: IntArray
    capacity: IntArray
    totals: IntArray
    draws: IntArray
    releases: IntArray


class Segments(NamedTuple):
    """Free amounts from some time on; `state[0]` segments are in use.

    Attributes
    ----------
    start
        First step of each segment, `[S]`.
    after
        Next segment of the same node, −1 for none, `[S]`; not used where units are counted.
    free
        Free amounts of each segment, `[S, R]`.
    row
        `free` as one row, `[S · R]`, which shares its memory.
    state
        Number of segments in use, `[1]`.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    row: IntArray
    state: IntArray


@compiled()
def room_for_segments(size: int, types: int) -> Segments:
    """Allocate empty segments.

    Parameters
    ----------
    size
        Number of segments.
    types
        Number of resource types, R.
    """
    free = np.empty((size, types), np.int64)
    return Segments(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        free,
        # One row over the same memory: where units are counted, compiled code walks that.
        free.reshape(size * types),
        np.empty(1, np.int64),
    )


@compiled()
def open_segments(time: int, capacity: IntArray, size: int) -> Segments:
    """Allocate `size` segments; the first ones offer the whole capacity from `time` on.

    Parameters
    ----------
    time
        First step of the segments.
    capacity
        Capacity of each node, `[N, R]`.
    size
        Number of segments to allocate, at least N.
    """
    nodes, types = capacity.shape
    segments = room_for_segments(size, types)
    segments.state[0] = nodes
    for n in range(nodes):
        segments.start[n] = time
        segments.after[n] = -1
        for r in range(types):
            segments.free[n, r] = capacity[n, r]
    return segments


@compiled()
def take_between(n: int, begin: int, end: int, amounts: IntArray, segments: Segments) -> None:
    """Take amounts, `[R]`, of a node or a shared resource from `begin` to `end`; see `take_on`."""
    take_on(n, begin, end, amounts, segments.start, segments.after, segments.free, segments.state)


class Kept(NamedTuple):
    """The state of list scheduling before each position of an order, to go on from there.

    Attributes
    ----------
    start, after
        Segments, `[J, S]`.
    row
        Free amounts, `[J, S · R]`.
    counts
        Segments in use, `[J]`.
    paid
        Cost of the jobs so far, `[J]`.
    ended
        Last end so far, `[J]`.
    """

    start: IntArray
    after: IntArray
    row: IntArray
    counts: IntArray
    paid: FloatArray
    ended: IntArray


@compiled()
def room_to_keep(count: int, segments: Segments) -> Kept:
    """Allocate the states before `count` positions."""
    size = len(segments.start)
    return Kept(
        np.empty((count, size), np.int64),
        np.empty((count, size), np.int64),
        np.empty((count, len(segments.row)), np.int64),
        np.empty(count, np.int64),
        np.zeros(count, np.float64),
        np.zeros(count, np.int64),
    )


@compiled()
def keep(given: Segments, aggregated: bool, kept: Kept, k: int) -> None:
    """Keep the present segments as the state before a position.

    Parameters
    ----------
    given
        The segments.
    aggregated
        Whether units are counted, so that segments have no `after`.
    kept
        The states.
    k
        The position.
    """
    # Only segments in use are copied: those behind them hold nothing yet.
    count, types = given.state[0], given.free.shape[1]
    kept.counts[k] = count
    for s in range(count):
        kept.start[k, s] = given.start[s]
    for s in range(count * types):
        kept.row[k, s] = given.row[s]
    if not aggregated:
        for s in range(count):
            kept.after[k, s] = given.after[s]


@compiled()
def restore(kept: Kept, k: int, aggregated: bool, into: Segments) -> None:
    """Go back to the state before position `k`."""
    count, types = kept.counts[k], into.free.shape[1]
    into.state[0] = count
    for s in range(count):
        into.start[s] = kept.start[k, s]
    for s in range(count * types):
        into.row[s] = kept.row[k, s]
    if not aggregated:
        for s in range(count):
            into.after[s] = kept.after[k, s]
