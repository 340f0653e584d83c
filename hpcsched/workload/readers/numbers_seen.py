"""Compact set of whole numbers that are mostly consecutive."""

from bisect import bisect_right

import numpy as np
import numpy.typing as npt

from hpcsched.system.system import IntArray


class NumbersSeen:
    """Set of whole numbers, stored as runs of consecutive numbers."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def __deepcopy__(self, _: object) -> "NumbersSeen":
        # Numbers do not change, so that copying the lists is enough, and a hundred times as quick.
        copied = NumbersSeen()
        copied._firsts, copied._lasts = self._firsts.copy(), self._lasts.copy()
        return copied

    def __contains__(self, number: int) -> bool:
        k = bisect_right(self._firsts, number)
        return k > 0 and number <= self._lasts[k - 1]

    def add(self, number: int) -> bool:
        """Add a number; return False if it was there already.

        Examples
        --------
        >>> seen = NumbersSeen()
        >>> seen.add(7), seen.add(7)
        (True, False)
        """
        lasts = self._lasts
        if lasts and number == lasts[-1] + 1:  # the common case
            lasts[-1] = number
            return True
        k = bisect_right(self._firsts, number)
        if k and number <= lasts[k - 1]:
            return False
        self._insert(k, number, number)
        return True

    def lacks(self, numbers: IntArray) -> npt.NDArray[np.bool_]:
        """Return whether each of some numbers is not in the set."""
        if not self._lasts or not len(numbers) or numbers.min() > self._lasts[-1]:
            return np.ones(len(numbers), dtype=np.bool_)
        before = np.searchsorted(self._firsts, numbers, side="right")
        lasts = np.array(self._lasts, dtype=np.int64)
        there: npt.NDArray[np.bool_] = (before > 0) & (numbers <= lasts[before - 1])
        return ~there

    def add_run(self, first: int, last: int) -> bool:
        """Add consecutive numbers; return False if one was there already.

        Parameters
        ----------
        first
            The first number.
        last
            The last number, included.
        """
        k = bisect_right(self._firsts, first)
        # The usual case, a run between others, is inserted at once; overlaps number by number.
        before_others = k == len(self._firsts) or last < self._firsts[k]
        if before_others and not (k and first <= self._lasts[k - 1]):
            self._insert(k, first, last)
            return True
        new = True
        for number in range(first, last + 1):
            new &= self.add(number)
        return new

    def add_all(self, numbers: IntArray) -> bool:
        """Add numbers; return False if one was there already, or occurs twice."""
        numbers, new = np.sort(numbers), True
        ends = np.flatnonzero(np.diff(numbers) != 1)
        firsts, lasts = np.insert(ends + 1, 0, 0), np.append(ends, len(numbers) - 1)
        if len(numbers):
            for first, last in zip(numbers[firsts].tolist(), numbers[lasts].tolist(), strict=True):
                new &= self.add_run(first, last)
        return new

    def _insert(self, k: int, first: int, last: int) -> None:
        """Insert consecutive numbers before the k-th run, and join touching runs."""
        firsts, lasts = self._firsts, self._lasts
        joins_left = k > 0 and lasts[k - 1] == first - 1
        joins_right = k < len(firsts) and firsts[k] == last + 1
        if joins_left and joins_right:
            lasts[k - 1] = lasts.pop(k)
            del firsts[k]
        elif joins_left:
            lasts[k - 1] = last
        elif joins_right:
            firsts[k] = first
        else:
            firsts.insert(k, first)
            lasts.insert(k, last)
