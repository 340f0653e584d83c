"""Shared resources of a whole system, such as power, licences, or storage space.

A shared resource's capacity may change at instants that are known in advance, once or periodically.
A job's draw follows from a model that the shared resource declares (see `shared_draws`).
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
    """Model of a job's draw from a shared resource while it runs, in the resource's unit.

    Attributes
    ----------
    per
        Draw of each unit of a resource type in the request, by name, in the units in which the
        system counts the type.
    """

    per: Mapping[str, int] = field(default_factory=dict)
    per_node: int = 0
    per_job: int = 0
    traced: bool = False


class Change(NamedTuple):
    """Change of a shared resource's capacity.

    Attributes
    ----------
    at
        Second from which it holds.
    """

    at: int
    capacity: int


@dataclass(frozen=True)
class SharedResource:
    """Shared resource: name, capacity over time, and model of the jobs' draw.

    Of two periods in a system the longer is a multiple of the other.

    Attributes
    ----------
    changes
        Changes by ascending time: in seconds since the trace's origin or, with `every`, since the
        beginning of each period.
    every
        Length of a period in seconds, the first from the trace's origin; None: no period.
    """

    name: str
    capacity: int
    draw: Draw = Draw()
    changes: tuple[Change, ...] = ()
    every: int | None = None

    def capacity_at(self, time: int) -> int:
        """Return the shared resource's capacity at a second."""
        # Before the trace's origin no period has begun, and the first capacity holds.
        period, within = (0, time) if self.every is None or time < 0 else divmod(time, self.every)
        upto = bisect_right(self.changes, within, key=_when)
        if upto:
            return self.changes[upto - 1].capacity
        return self.changes[-1].capacity if period and self.changes else self.capacity

    def next_change(self, time: int) -> int:
        """Return the first second after `time` with a change of capacity; NEVER without one."""
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
        """Second from which the capacity is constant or periodic.

        The capacity before the first change may apply in the first period alone.
        """
        if self.every is not None:
            return self.every
        return self.changes[-1].at if self.changes else 0


def _when(change: Change) -> int:
    return change.at


def period_of(shared_resources: Sequence[SharedResource]) -> int:
    """Return the common period of shared resources in seconds, the longest; 0 if none has one."""
    return max((resource.every or 0 for resource in shared_resources), default=0)


def settled_from(shared_resources: Sequence[SharedResource]) -> int:
    """Return a second from which the capacity of every shared resource is constant or periodic."""
    return max((resource.settled for resource in shared_resources), default=0)


def next_change(shared_resources: Sequence[SharedResource], time: int) -> int:
    """Return the first second after `time` at which a capacity changes; NEVER if none does."""
    return min((resource.next_change(time) for resource in shared_resources), default=NEVER)


def steps_from(
    shared_resources: Sequence[SharedResource], begin: int
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the capacities of the shared resources from a second on.

    Parameters
    ----------
    begin
        First second.

    Yields
    ------
    tuple
        Second from which capacities hold, ascending from `begin`, and the capacities, `[P]`.
        Endless if a shared resource has a period.
    """
    time = begin
    while time != NEVER:
        yield time, tuple(resource.capacity_at(time) for resource in shared_resources)
        time = next_change(shared_resources, time)


def longest_stay(shared_resources: Sequence[SharedResource], draw: Sequence[int]) -> int:
    """Return the longest time, in seconds, for which a job with this draw can run.

    That is alone on the system, in the best part of a period or, without a period, after all
    changes.

    Parameters
    ----------
    draw
        The job's draw, `[P]`.
    """
    period, settled = period_of(shared_resources), settled_from(shared_resources)
    asked = [
        (resource, amount)
        for resource, amount in zip(shared_resources, draw, strict=True)
        if amount
    ]
    if not period:
        fits = all(amount <= resource.capacity_at(settled) for resource, amount in asked)
        return NEVER if fits else 0
    # Two periods: a stay may begin in one and end in the next; one that fills both is endless.
    end = settled + 2 * period
    times = [settled]
    while times[-1] < end:
        times.append(min(next_change(shared_resources, times[-1]), end))
    longest = stay = 0
    for begin, until in pairwise(times):
        fits = all(amount <= resource.capacity_at(begin) for resource, amount in asked)
        stay = stay + until - begin if fits else 0
        longest = max(longest, stay)
    return NEVER if longest == 2 * period else longest
