"""The shapes of the requests that problems have shown, numbered as the core wants them."""

from hpcsched.dispatching.core.shape_arrays import most_units, no_shapes, with_shapes
from hpcsched.dispatching.core.state import Shapes
from hpcsched.dispatching.shapes import Shape, shape_of
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.system import System

_SPARE = 1024
"""How many shapes or requests may be remembered beyond those of a problem."""


class ShapeTable:
    """Numbers shapes as they come; `shapes` has them as arrays, once `write` was called."""

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
        """Forget what is remembered if it is much more than so many jobs can need."""
        if len(self._known) > 2 * jobs + _SPARE:
            self._known.clear()
        if len(self._numbers) > 2 * jobs + _SPARE:
            self._forget()

    def write(self) -> bool:
        """Write new shapes into the arrays, which are others then; return whether there are any."""
        new, self._new = self._new, []
        if new:
            self.shapes = with_shapes(self.shapes, new)
        return bool(new)

    def most_units(self) -> int:
        """Return a number of units of any shapes that the nodes cannot hold more than."""
        return most_units(self.shapes, self._system)
