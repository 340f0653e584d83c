"""Shared resources (pools): amounts that belong to the whole system, such as power or licences.

The capacity of a pool may change at known instants, once or periodically. The draw of a job follows
from a model that the pool declares (see `pool_draws`).
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
    """Model of the amount that a job draws while it runs, in the unit of the pool.

    Attributes
    ----------
    per
        Amount for each unit of a resource type that the job asks for, by name.
    per_node
        Amount for each node that is switched on for the job.
    per_job
        Amount for the job itself.
    traced
        True: the trace states the amount, and nothing else counts.
    """

    per: Mapping[str, int] = field(default_factory=dict)
    per_node: int = 0
    per_job: int = 0
    traced: bool = False


class Change(NamedTuple):
    """Capacity of a pool from second `at` on."""

    at: int
    capacity: int


@dataclass(frozen=True)
class Pool:
    """A shared resource.

    Attributes
    ----------
    capacity
        Amount that holds until the first change.
    draw
        Model of the draws of jobs.
    changes
        Changes of the capacity, by ascending time.
    every
        Period of the changes, in seconds, counted from the origin of the trace; None: they come
        once. Of two periods in a system the longer is a multiple of the other.
    """

    name: str
    capacity: int
    draw: Draw = Draw()
    changes: tuple[Change, ...] = ()
    every: int | None = None

    def capacity_at(self, time: int) -> int:
        """Return the capacity at a second."""
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
        """First second from which the capacity is constant, or periodic.

        The capacity before the first change may occur in the first period alone.
        """
        if self.every is not None:
            return self.every
        return self.changes[-1].at if self.changes else 0


def _when(change: Change) -> int:
    return change.at


def period_of(pools: Sequence[Pool]) -> int:
    """Return the period of all pools together, in seconds; 0 if none has one."""
    return max((pool.every or 0 for pool in pools), default=0)


def settled_from(pools: Sequence[Pool]) -> int:
    """Return a second from which all capacities are constant, or periodic."""
    return max((pool.settled for pool in pools), default=0)


def next_change(pools: Sequence[Pool], time: int) -> int:
    """Return the first second after `time` at which a pool changes; NEVER if none does."""
    return min((pool.next_change(time) for pool in pools), default=NEVER)


def steps_from(pools: Sequence[Pool], begin: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the capacities from second `begin` on: second, and capacity of each pool, `[P]`.

    Seconds ascend. The iterator is endless where a pool has a period.
    """
    time = begin
    while time != NEVER:
        yield time, tuple(pool.capacity_at(time) for pool in pools)
        time = next_change(pools, time)


def longest_stay(pools: Sequence[Pool], draw: Sequence[int]) -> int:
    """Return the longest run time, in seconds, of a job with draws `[P]`, whenever it comes.

    It runs alone on the system, in the best part of a period, or in the end where nothing repeats.
    NEVER: any run time; 0: it cannot run at all.
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
