"""Numbers as logs of other tools give them, turned into the whole numbers that jobs are made of.

Instants are rounded down to whole seconds, so that jobs keep their order; durations are rounded up,
so that what ran for a moment did not run for nothing, and a run time within a requested time stays
within it.
"""

import math

from hpcsched.parameters import LARGEST

_FLOAT_CHARACTERS = frozenset("0123456789+-.eE")


def whole_number(value: object) -> int:
    """Return a whole number that is given as one, as a fraction of nothing (`4.0`), or as text.

    Raises ValueError for anything else, and for numbers above 2⁵³.
    """
    number = _number(value)
    if isinstance(number, float):
        if not number.is_integer():
            raise ValueError(f"expected a whole number, found {_shown(value)}")
        number = int(number)
    return _bounded(number)


def instant(value: object) -> int:
    """Return the whole second that an instant in seconds is in; raises ValueError for no number."""
    number = _number(value)
    return _bounded(math.floor(number) if isinstance(number, float) else number)


def duration(value: object) -> int:
    """Return the seconds of a duration, rounded up; raises ValueError for no number."""
    number = _number(value)
    return _bounded(math.ceil(number) if isinstance(number, float) else number)


def _number(value: object) -> int | float:
    """Return a finite number; raises ValueError where the value is none."""
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
    """Return a value as a message shows it, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        return "a huge number"
    return text if len(text) <= 40 else f"{text[:40]}…"
