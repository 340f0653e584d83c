"""Compiled: what is free as jobs are planned one after another, and going back to earlier states.

What is free on nodes is a pool of segments as in `plan_kernels`; where units are counted, it is a
row of segments as in `row_kernels`. Where nothing is free for ever, a job may never fit.
"""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.system.system import IntArray


class Content(NamedTuple):
    """Jobs and nodes of `ModelData`, what jobs draw from pools, and when they may start.

    `pooled`: whether units are counted, so that no nodes are told apart. `releases`, `[J]`: no job
    is planned before then.
    """

    pooled: bool
    units: IntArray
    requests: IntArray
    run_times: IntArray
    room: IntArray
    capacity: IntArray
    totals: IntArray
    draws: IntArray
    releases: IntArray


class Segments(NamedTuple):
    """What is free from some time on; `state[0]` segments are in use.

    `row` is `free`, `[S, R]`, as one row. Where units are counted, `after` is not used.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    row: IntArray
    state: IntArray


@compiled()
def room_for_segments(size: int, types: int) -> Segments:
    """Return room for `size` segments."""
    free = np.empty((size, types), np.int64)
    return Segments(
        np.empty(size, np.int64),
        np.empty(size, np.int64),
        free,
        free.reshape(size * types),
        np.empty(1, np.int64),
    )


@compiled()
def open_segments(time: int, capacity: IntArray, size: int) -> Segments:
    """Return room for `size` segments, of which the first say that all is free from `time` on."""
    nodes, types = capacity.shape
    segments = room_for_segments(size, types)
    segments.state[0] = nodes
    for n in range(nodes):
        segments.start[n] = time
        segments.after[n] = -1
        for r in range(types):
            segments.free[n, r] = capacity[n, r]
    return segments


class Kept(NamedTuple):
    """What a plan has come to before each position of an order, to go on from there.

    `start` and `after`, `[J, S]`, and `row`, `[J, S · R]`, are segments, of which `counts`, `[J]`,
    are in use; `paid` is what jobs so far cost, `ended` the last end.
    """

    start: IntArray
    after: IntArray
    row: IntArray
    counts: IntArray
    paid: FloatArray
    ended: IntArray


@compiled()
def room_to_keep(count: int, segments: Segments) -> Kept:
    """Return room for what goes before each of `count` positions."""
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
def keep(given: Segments, pooled: bool, kept: Kept, k: int) -> None:
    """Keep what is given as what goes before position `k`."""
    count, types = given.state[0], given.free.shape[1]
    kept.counts[k] = count
    for s in range(count):
        kept.start[k, s] = given.start[s]
    for s in range(count * types):
        kept.row[k, s] = given.row[s]
    if not pooled:
        for s in range(count):
            kept.after[k, s] = given.after[s]


@compiled()
def restore(kept: Kept, k: int, pooled: bool, into: Segments) -> None:
    """Go back to what goes before position `k`."""
    count, types = kept.counts[k], into.free.shape[1]
    into.state[0] = count
    for s in range(count):
        into.start[s] = kept.start[k, s]
    for s in range(count * types):
        into.row[s] = kept.row[k, s]
    if not pooled:
        for s in range(count):
            into.after[s] = kept.after[k, s]
