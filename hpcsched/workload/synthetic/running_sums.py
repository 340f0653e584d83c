"""Sums that give the same bits with every version of Python.

`sum` adds floats with a compensation for lost digits since Python 3.12, and without one before.
"""

from collections.abc import Iterable


def plain_sum(numbers: Iterable[float]) -> float:
    """Return the sum, added up from the first number on."""
    total = 0.0
    for number in numbers:
        total += number
    return total
