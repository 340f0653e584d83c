"""Logarithm, exponential and sum with the same bits on every machine and version of Python.

The functions of the C library differ in their last bit from one library to the next, and a last bit
can turn into another second, another job, another trace. These use nothing but operations that IEEE
754 fixes to the bit: sums, products, quotients, and scaling by powers of two. `sum` of Python adds
floats with a compensation for lost digits since version 3.12, and without one before.
"""

import math
from collections.abc import Iterable

_LN2_HIGH = 6.93147180369123816490e-01
"""ln 2, cut so that its product with a small whole number is exact."""
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.7071067811865476
_SERIES = 12
_TAYLOR = 16
_LARGEST_EXPONENT = 709.0


def log(x: float) -> float:
    """Return the natural logarithm of a positive number.

    Raises
    ------
    ValueError
        If the number is not positive and finite.

    Notes
    -----
    ln(m · 2ᵉ) = e · ln 2 + 2 artanh((m − 1) / (m + 1)), with m near 1 so that the series is short.
    """
    if not x > 0 or x == math.inf:
        raise ValueError(f"expected a positive number, found {x}")
    mantissa, exponent = math.frexp(x)
    # The mantissa is moved to [√½, √2), where |z| is at most 0.172.
    if mantissa < _SQRT_HALF:
        mantissa, exponent = mantissa * 2, exponent - 1
    z = (mantissa - 1) / (mantissa + 1)
    square = z * z
    total = 0.0
    for k in range(_SERIES, -1, -1):
        total = total * square + 1 / (2 * k + 1)
    return exponent * _LN2_HIGH + (2 * z * total + exponent * _LN2_LOW)


def exp(x: float) -> float:
    """Return e to the power of x.

    Raises
    ------
    OverflowError
        If x is over 709.
    """
    if x > _LARGEST_EXPONENT:
        raise OverflowError(f"expected at most {_LARGEST_EXPONENT:.0f}, found {x}")
    if x < -_LARGEST_EXPONENT:
        return 0.0
    halvings = math.floor(x / (_LN2_HIGH + _LN2_LOW) + 0.5)
    rest = (x - halvings * _LN2_HIGH) - halvings * _LN2_LOW
    total = 1.0
    for k in range(_TAYLOR, 0, -1):
        total = 1 + total * rest / k
    return math.ldexp(total, halvings)


def power(base: float, exponent: float) -> float:
    """Return a positive number to some power.

    Parameters
    ----------
    base
        Above 0.
    exponent
        Any number.
    """
    return exp(exponent * log(base))


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
