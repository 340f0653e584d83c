"""Shapes of the requests of problems, numbered for the core."""

from hpcsched.dispatching.core.shape_arrays import most_units, no_shapes, with_shapes
from hpcsched.dispatching.core.state import Shapes
from hpcsched.dispatching.shapes import Shape, shape_of
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.system import System

_SPARE = 1024
"""Number of shapes or requests that may be cached beyond those of a problem."""


class ShapeTable:
    """Numbering of shapes in order of appearance; `shapes` holds their arrays after `write`."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.shapes: Shapes
        self._forget()

    def _forget(self) -> None:
        self.shapes = no_shapes(*self._system.capacity.shape)
        self._numbers: dict[ShapeKey, int] = {}
        # The numbers of single objects, as each is asked about in many rounds.
        self._known: dict[int, tuple[Request, int]] = {}
        self._new: list[Shape] = []

    def number(self, request: Request) -> int:
        """Return the number of a request's shape."""
        known = self._known.get(id(request))
        if known is not None:
            return known[1]
        key = shape_key(request)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._numbers)
            self._new.append(shape_of(self._system, request))
        self._known[id(request)] = request, number
        return number

    def make_room(self, jobs: int) -> None:
        """Clear the cache if it is much larger than `jobs` jobs can need."""
        if len(self._known) > 2 * jobs + _SPARE:
            self._known.clear()
        if len(self._numbers) > 2 * jobs + _SPARE:
            self._forget()

    def write(self) -> bool:
        """Add new shapes to the arrays; return whether the arrays were replaced for that."""
        new, self._new = self._new, []
        if new:
            self.shapes = with_shapes(self.shapes, new)
        return bool(new)

    def most_units(self) -> int:
        """Return an upper bound on the units of any shapes that the nodes hold at once."""
        return most_units(self.shapes, self._system)
