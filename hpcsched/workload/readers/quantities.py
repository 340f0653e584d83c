"""Conversion of numbers in other tools' logs to the whole numbers of jobs.

Instants are rounded down to whole seconds, so that jobs keep their order. Durations are rounded up,
so that a job of a fraction of a second has a run time above 0, and a run time within the requested
time stays within it.
"""

import math
from fractions import Fraction

from hpcsched.parameters import LARGEST

_FLOAT_CHARACTERS = frozenset("0123456789+-.eE")


def whole_number(value: object) -> int:
    """Return a whole number given as int, as float (`4.0`) or as text.

    Returns
    -------
    int
        The number; -1 for any negative number, which means not given.

    Raises
    ------
    ValueError
        If the value is anything else, or above 2⁵³.

    Examples
    --------
    >>> whole_number("4.0"), whole_number(-7)
    (4, -1)
    """
    number = _number(value)
    if isinstance(number, float):
        if not number.is_integer():
            raise ValueError(f"expected a whole number, found {_shown(value)}")
        number = int(number)
    return _bounded(number)


def instant(value: object, per_second: int = 1) -> int:
    """Return an instant in seconds, rounded down.

    Parameters
    ----------
    value
        The instant.
    per_second
        How many units of the value make a second: 1000 for milliseconds.

    Raises
    ------
    ValueError
        If the value is no number, or above 2⁵³.
    """
    number = _number(value)
    if per_second > 1:
        number = math.floor(Fraction(number) / per_second)
    return _bounded(math.floor(number) if isinstance(number, float) else number)


def duration(value: object) -> int:
    """Return a duration in seconds, rounded up.

    Raises
    ------
    ValueError
        If the value is no number, or above 2⁵³.

    Examples
    --------
    >>> duration(0.2), instant(0.2)
    (1, 0)
    """
    return scaled(value, Fraction(1))


def scaled(value: object, factor: Fraction) -> int:
    """Return a number × a factor, rounded up.

    Returns
    -------
    int
        The product; -1 for any negative number, which means not given.

    Raises
    ------
    ValueError
        If the value is no number, or the product is above 2⁵³.

    Examples
    --------
    >>> scaled("1.5", Fraction(60)), scaled(50, Fraction(1, 100)), scaled(-1, Fraction(1, 1000))
    (90, 1, -1)
    """
    number = _number(value)
    if factor != 1:
        # A small negative number would be rounded up to 0, which is a value.
        number = -1 if number < 0 else math.ceil(Fraction(number) * factor)
    return _bounded(math.ceil(number) if isinstance(number, float) else number)


def _number(value: object) -> int | float:
    """Return a finite number; raises ValueError for any other value."""
    # Before int, since True is an int in Python.
    if isinstance(value, bool):
        raise ValueError(f"expected a number, found {_shown(value)}")
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        return _parsed(value)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise ValueError(f"expected a number, found {_shown(value)}")


def _parsed(text: str) -> int | float:
    # int() and float() take more than digits: `1_0`, `nan`, digits of other scripts.
    stripped = text.strip()
    if stripped and _FLOAT_CHARACTERS.issuperset(stripped):
        try:
            return int(stripped)
        except ValueError:
            pass
        try:
            number = float(stripped)
        except ValueError:
            pass
        else:
            if math.isfinite(number):
                return number
    raise ValueError(f"expected a number, found {_shown(text)}")


def _bounded(number: int) -> int:
    if number > LARGEST:
        raise ValueError(f"expected a number up to {LARGEST}")
    return max(number, -1)


def _shown(value: object) -> str:
    """Return a value quoted for a message, cut after 40 characters."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a huge number"
    return text if len(text) <= 40 else f"{text[:40]}…"
