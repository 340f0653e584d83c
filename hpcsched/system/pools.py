"""Pools: what a system offers as a whole and on no node, such as power, licences, or storage space.

A pool's capacity may change at instants that are known in advance, once or again and again. What a
job draws follows from a model that the pool declares (see `pool_draws`).
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

NEVER = 1 << 62
"""Later than any time, in seconds."""


@dataclass(frozen=True, slots=True)
class Draw:
    """How much a job draws from a pool while it runs, in the unit of the pool.

    `per` is for each unit of a resource type that it asks for, by name, in the units in which the
    system counts the type; `per_node` for each node that is switched on for it, as no other job
    runs there; `per_job` for the job itself. With `traced`, it is what the trace says, and no more.
    """

    per: Mapping[str, int] = field(default_factory=dict)
    per_node: int = 0
    per_job: int = 0
    traced: bool = False


class Change(NamedTuple):
    """From second `at` on, a pool offers `capacity`."""

    at: int
    capacity: int


@dataclass(frozen=True)
class Pool:
    """A pool: its name, what it offers, and how jobs draw from it.

    `capacity` holds until the first of `changes`, which come by ascending time. Changes come once,
    at seconds since the trace's origin; or, where there is a period of `every` seconds, in each
    period, at seconds since it began, the first at the trace's origin. Of two periods in a system
    the longer is a multiple of the other.
    """

    name: str
    capacity: int
    draw: Draw = Draw()
    changes: tuple[Change, ...] = ()
    every: int | None = None

    def capacity_at(self, time: int) -> int:
        """Return what the pool offers at a second."""
        period, within = (0, time) if self.every is None or time < 0 else divmod(time, self.every)
        upto = bisect_right(self.changes, within, key=_when)
        if upto:
            return self.changes[upto - 1].capacity
        return self.changes[-1].capacity if period and self.changes else self.capacity

    def next_change(self, time: int) -> int:
        """Return the first second after `time` at which a change is due; NEVER if there is none."""
        if self.every is None or time < 0:
            later = self.changes[bisect_right(self.changes, time, key=_when) :]
            return later[0].at if later else NEVER
        period, within = divmod(time, self.every)
        upto = bisect_right(self.changes, within, key=_when)
        if upto < len(self.changes):
            return period * self.every + self.changes[upto].at
        return (period + 1) * self.every + self.changes[0].at if self.changes else NEVER

    @property
    def settled(self) -> int:
        """The second from which on the pool offers the same for ever, or the same in each period.

        A capacity that holds before the first change may be offered in the first period alone.
        """
        if self.every is not None:
            return self.every
        return self.changes[-1].at if self.changes else 0


def _when(change: Change) -> int:
    return change.at


def period_of(pools: Sequence[Pool]) -> int:
    """Return the period of all pools together in seconds, the longest; 0 where none has one."""
    return max((pool.every or 0 for pool in pools), default=0)


def settled_from(pools: Sequence[Pool]) -> int:
    """Return a second from which on all pools offer the same for ever, or in each period."""
    return max((pool.settled for pool in pools), default=0)


def next_change(pools: Sequence[Pool], time: int) -> int:
    """Return the first second after `time` at which a pool changes; NEVER if none does."""
    return min((pool.next_change(time) for pool in pools), default=NEVER)


def steps_from(pools: Sequence[Pool], begin: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield what the pools offer from `begin` on: from which second, and of each pool, `[P]`.

    Seconds ascend from `begin`; there is no end of them where a pool has a period.
    """
    time = begin
    while time != NEVER:
        yield time, tuple(pool.capacity_at(time) for pool in pools)
        time = next_change(pools, time)


def longest_stay(pools: Sequence[Pool], draw: Sequence[int]) -> int:
    """Return for how many seconds a job can run that draws so much, `[P]`, whenever it comes.

    That is alone on the system, in the best part of a period, or in the end where nothing comes
    again; NEVER if for any time, 0 if it cannot run at all.
    """
    period, settled = period_of(pools), settled_from(pools)
    asked = [(pool, amount) for pool, amount in zip(pools, draw, strict=True) if amount]
    if not period:
        fits = all(amount <= pool.capacity_at(settled) for pool, amount in asked)
        return NEVER if fits else 0
    end = settled + 2 * period
    times = [settled]
    while times[-1] < end:
        times.append(min(next_change(pools, times[-1]), end))
    longest = stay = 0
    for begin, until in pairwise(times):
        fits = all(amount <= pool.capacity_at(begin) for pool, amount in asked)
        stay = stay + until - begin if fits else 0
        longest = max(longest, stay)
    return NEVER if longest == 2 * period else longest
