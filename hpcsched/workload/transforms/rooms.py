"""How many units of a job the idle system can hold."""

from typing import Literal

from hpcsched.system.request import ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System
from hpcsched.workload.job import Job

TooLarge = Literal["clip", "skip"]
"""What to do with a job that a transform has made too large for the idle system."""

_MOST_KNOWN = 10_000
"""Requests that are remembered: few in most traces, and as many as jobs where they are drawn."""


class Rooms:
    """Answers for a system, and remembers the answers."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: dict[ShapeKey, int] = {}

    def room_for(self, job: Job) -> int:
        """Return how many units that ask for what the job's ask for fit where it may run."""
        key = shape_key(job)
        room = self._known.get(key)
        if room is None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            room = int(units_that_fit(self.system, self.system.capacity.T, job).sum())
            self._known[key] = room
        return room

    def most_of(self, job: Job, resource: int, most: int) -> int:
        """Return how much of a resource type, at most `most`, all units may ask for and still fit.

        `resource` is its place among the system's resource types, and the amount is in the system's
        units. The answer is 0 where the job does not fit with any amount.
        """
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.room_for(asking(job, resource, middle)) >= job.units:
                low = middle
            else:
                high = middle - 1
        return low


def asking(job: Job, resource: int, amount: int) -> Job:
    """Return a job whose units ask for an amount of a resource type, in the system's units."""
    request = list(job.unit_request)
    request[resource] = amount
    return job._replace(unit_request=tuple(request))
