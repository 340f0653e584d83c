"""A set of job numbers that stays small where numbers mostly count upwards."""

from bisect import bisect_right


class NumbersSeen:
    """Remembers whole numbers as runs of consecutive ones."""

    def __init__(self) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []

    def __contains__(self, number: int) -> bool:
        k = bisect_right(self._firsts, number)
        return k > 0 and number <= self._lasts[k - 1]

    def add(self, number: int) -> bool:
        """Add a number; return False if it was there already."""
        lasts = self._lasts
        if lasts and number == lasts[-1] + 1:  # the common case
            lasts[-1] = number
            return True
        firsts = self._firsts
        k = bisect_right(firsts, number)
        if k and number <= lasts[k - 1]:
            return False
        joins_left = k > 0 and lasts[k - 1] == number - 1
        joins_right = k < len(firsts) and firsts[k] == number + 1
        if joins_left and joins_right:
            lasts[k - 1] = lasts.pop(k)
            del firsts[k]
        elif joins_left:
            lasts[k - 1] = number
        elif joins_right:
            firsts[k] = number
        else:
            firsts.insert(k, number)
            lasts.insert(k, number)
        return True

    def add_run(self, first: int, last: int) -> bool:
        """Add the numbers from a first to a last one; return False if one was there already."""
        firsts, lasts = self._firsts, self._lasts
        if not lasts or first > lasts[-1] + 1:  # the common cases
            firsts.append(first)
            lasts.append(last)
            return True
        if first == lasts[-1] + 1:
            lasts[-1] = last
            return True
        new = True
        for number in range(first, last + 1):
            new &= self.add(number)
        return new
