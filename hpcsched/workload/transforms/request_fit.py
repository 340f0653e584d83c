"""Number of units of a job that fit on the idle system, with a cache."""

from typing import Literal

from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System

TooLarge = Literal["clip", "skip"]
"""Policy for a job that a transform has made too large for the idle system."""

_MOST_KNOWN = 10_000
"""Size of the cache: requests are few in most traces, and as many as jobs if they are drawn."""


class Rooms:
    """Numbers of units that fit on an idle system, by request."""

    def __init__(self, system: System) -> None:
        self.system = system
        self._known: dict[ShapeKey, int] = {}

    def room_for(self, request: Request) -> int:
        """Return the number of units with this request that fit where they may run."""
        key = shape_key(request)
        room = self._known.get(key)
        if room is None:
            if len(self._known) == _MOST_KNOWN:
                self._known.clear()
            room = int(units_that_fit(self.system, self.system.capacity.T, request).sum())
            self._known[key] = room
        return room

    def most_of(self, request: Request, resource: int, most: int) -> int:
        """Return the largest amount of a resource type with which all units of a request fit.

        Parameters
        ----------
        resource
            Index of the resource type.

        Returns
        -------
        int
            The amount in the system's units; 0 if the units do not fit with any amount.
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
    """Return a request with another amount of a resource type.

    Parameters
    ----------
    resource
        Index of the resource type.
    amount
        Amount of a unit, in the system's units.
    """
    amounts = list(request.unit_request)
    amounts[resource] = amount
    return request._replace(unit_request=tuple(amounts))
