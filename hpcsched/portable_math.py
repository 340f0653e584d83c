"""Logarithm, exponential and sums with the same bits on every machine and version of Python.

The functions of the C library and of NumPy differ in their last bit from one processor to the next,
and a last bit can turn into another second, another job, another schedule. Those of the core use
nothing but operations that IEEE 754 fixes to the bit. `sum` of Python adds floats with a
compensation for lost digits since version 3.12, and without one before.
"""

from collections.abc import Callable, Iterable
from typing import Any

from hpcsched._core import exp, expm1, log, log1p

__all__ = ["exp", "expm1", "log", "log1p", "of_each", "plain_sum", "power"]


def power(base: float, exponent: float) -> float:
    """Return a positive number to some power."""
    return exp(exponent * log(base))


def of_each(function: Callable[..., float], *arrays: Any) -> Any:
    """Return a function of each number of arrays; of plain numbers, a number."""
    import numpy as np  # noqa: PLC0415 (many that need only numbers are imported by every command)

    return np.vectorize(function, otypes=[np.float64])(*arrays)[()]


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
