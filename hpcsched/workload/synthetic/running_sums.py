"""Sums that give the same bits with every version of Python.

`sum` adds floats with a compensation for lost digits since Python 3.12, and without one before.
"""

from collections.abc import Iterable


def plain_sum(numbers: Iterable[float]) -> float:
    """Return the sum, added up from the first number on.

    Examples
    --------
    >>> plain_sum([1e16, 1.0, -1e16])
    0.0
    """
    total = 0.0
    for number in numbers:
        total += number
    return total
