"""How many units of a job the idle system can hold."""

from typing import Literal

from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System

TooLarge = Literal["clip", "skip"]
"""What to do with a job that a transform has made too large for the idle system."""

_MOST_KNOWN = 10_000
"""Requests that are remembered: few in most traces, and as many as jobs where they are drawn."""


class Rooms:
    """Answers for a system, and remembers the answers."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: dict[ShapeKey, int] = {}

    def room_for(self, request: Request) -> int:
        """Return how many units that ask for what these ask for fit where they may run."""
        key = shape_key(request)
        room = self._known.get(key)
        if room is None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            room = int(units_that_fit(self.system, self.system.capacity.T, request).sum())
            self._known[key] = room
        return room

    def most_of(self, request: Request, resource: int, most: int) -> int:
        """Return how much of a resource type, at most `most`, all units may ask for and still fit.

        `resource` is its place among the system's resource types, and the amount is in the system's
        units. The answer is 0 where they do not fit with any amount.
        """
        low, high = 0, most
        while low < high:
            middle = (low + high + 1) // 2
            if self.room_for(asking(request, resource, middle)) >= request.units:
                low = middle
            else:
                high = middle - 1
        return low


def asking(request: Request, resource: int, amount: int) -> Request:
    """Return a request for an amount of a resource type per unit, in the system's units."""
    amounts = list(request.unit_request)
    amounts[resource] = amount
    return request._replace(unit_request=tuple(amounts))
