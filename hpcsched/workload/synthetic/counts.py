"""Frequency tables of bounded size."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Generic, TypeVar

from hpcsched.parameters import LARGEST
from hpcsched.workload.synthetic.draws import Weighted

MOST = 10_000
"""Maximum number of different values in a table."""

T = TypeVar("T")


class Counts(Generic[T]):
    """Frequencies of up to `MOST` different values."""

    def __init__(self) -> None:
        self.counts: dict[T, int] = {}

    def add(self, thing: T) -> bool:
        """Count a value; return False if there is no room for a new one."""
        count = self.counts.get(thing, 0)
        # A full table still counts the values it knows.
        if not count and len(self.counts) >= MOST:
            return False
        self.counts[thing] = count + 1
        return True

    def weighted(self) -> Weighted[T]:
        """Return a distribution with these frequencies; there must be at least one value."""
        return Weighted(list(self.counts), list(self.counts.values()))


class Ascending:
    """Numbers with their frequencies, in ascending order."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._numbers = sorted(counts)
        self._upto = [0, *accumulate(counts[number] for number in self._numbers)]
        self.total = self._upto[-1]

    def at(self, place: float, least: int = 0, most: int = LARGEST) -> int | None:
        """Return the number at a relative position within bounds; None if there is none.

        Parameters
        ----------
        place
            Position, from 0 to 1, among the numbers within the bounds.
        """
        begin = self._upto[bisect_left(self._numbers, least)]
        end = self._upto[bisect_right(self._numbers, most)]
        if begin >= end:
            return None
        return self._numbers[bisect_right(self._upto, int(begin + place * (end - begin))) - 1]
