"""Tables of how often things come, of bounded size."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from itertools import accumulate
from typing import Generic, TypeVar

from hpcsched.parameters import LARGEST
from hpcsched.workload.synthetic.draws import Weighted

MOST = 10_000
"""Different things that a table has, at most."""

T = TypeVar("T")


class Counts(Generic[T]):
    """Counts up to `MOST` different things."""

    def __init__(self) -> None:
        self.counts: dict[T, int] = {}

    def add(self, thing: T) -> bool:
        """Count a thing; return False if there is no room for one more."""
        count = self.counts.get(thing, 0)
        if not count and len(self.counts) >= MOST:
            return False
        self.counts[thing] = count + 1
        return True

    def weighted(self) -> Weighted[T]:
        """Return what draws things as often as they were counted; there must be one."""
        return Weighted(list(self.counts), list(self.counts.values()))


class Ascending:
    """Numbers by how often they were counted, in ascending order; `total` is how many."""

    def __init__(self, counts: Mapping[int, int]) -> None:
        self._numbers = sorted(counts)
        self._upto = [0, *accumulate(counts[number] for number in self._numbers)]
        self.total = self._upto[-1]

    def at(self, place: float, least: int = 0, most: int = LARGEST) -> int | None:
        """Return the number at a place, from 0 to 1, among those from least to most, if any."""
        begin = self._upto[bisect_left(self._numbers, least)]
        end = self._upto[bisect_right(self._numbers, most)]
        if begin >= end:
            return None
        return self._numbers[bisect_right(self._upto, int(begin + place * (end - begin))) - 1]
