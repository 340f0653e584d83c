"""The account of what waits, and of what is free although it is waited for."""

from collections import Counter
from collections.abc import Sequence


class WaitingUnits(Counter[tuple[int, ...]]):
    """How many units wait, by what each asks for of the resource types, `[R]`.

    It is kept unit request by unit request, as a job that comes or goes then changes one number.
    """

    def amounts(self, types: int) -> tuple[int, ...]:
        """Return what the units ask for together, of each of so many resource types, `[R]`."""
        amounts = [0] * types
        for request, units in self.items():
            for r, amount in enumerate(request):
                amounts[r] += amount * units
        return tuple(amounts)

    def idle(self, free: Sequence[int]) -> tuple[int, ...]:
        """Return how much of what is `free`, `[R]`, is waited for, by resource type."""
        return tuple(map(min, self.amounts(len(free)), free))
