"""Conversion of numbers and calendar times in logs to whole numbers of jobs and Unix times."""

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.workload.readers.policies import FractionalSeconds, UnusableError

_HALF = Fraction(1, 2)
_SECOND = Fraction(1)
_FLOAT_CHARACTERS = frozenset("0123456789+-.eE")


def whole_number(value: object) -> int:
    """Return a whole number given as int, as float (`4.0`) or as text.

    Examples
    --------
    >>> whole_number("4.0"), whole_number(-7)
    (4, -1)
    """
    number = _number(value)
    if not isinstance(number, int):
        if not float(number).is_integer():
            raise ValueError(f"expected a whole number, found {_shown(value)}")
        number = int(number)
    return _bounded(number)


class WholeSeconds:
    """Reader of times in whole seconds: a policy decides on fractions.

    Parameters
    ----------
    policy
        The policy; `outward` rounds instants down, so that jobs keep their order, and durations up,
        so that a job of a fraction of a second has a run time above 0.

    Attributes
    ----------
    rounded
        Whether a time was rounded since this was last set to False.

    Examples
    --------
    >>> seconds = WholeSeconds("outward")
    >>> seconds.duration("12.7"), seconds.instant("12.7"), seconds.rounded
    (13, 12, True)
    """

    def __init__(self, policy: FractionalSeconds) -> None:
        self._policy = policy
        self.rounded = False

    def instant(self, value: object, factor: Fraction = _SECOND) -> int:
        """Return an instant in seconds; -1 for any negative number, which means not given.

        Parameters
        ----------
        factor
            Seconds in its unit: 1/1000 for milliseconds.
        """
        return self._whole(value, factor, math.floor)

    def duration(self, value: object, factor: Fraction = _SECOND) -> int:
        """Return a duration in seconds; otherwise as `instant`."""
        return self._whole(value, factor, math.ceil)

    def _whole(
        self, value: object, factor: Fraction, outward: Callable[[float | Fraction], int]
    ) -> int:
        number = _number(value)
        if factor != 1:
            number = Fraction(number) * factor
        if isinstance(number, int) or number < 0:
            return _bounded(math.floor(number))
        whole = math.floor(number)
        if number == whole:
            return _bounded(whole)
        match self._policy:
            case "floor":
                pass
            case "ceil":
                whole += 1
            case "round":
                whole = math.floor(number + _HALF)
            case "outward":
                whole = outward(number)
            case _:
                raise UnusableError(
                    "fractional_seconds",
                    f"expected whole seconds, found {_shown(float(number))}",
                )
        self.rounded = True
        return _bounded(whole)


def scaled(value: object, factor: Fraction) -> int:
    """Return a number × a factor, rounded up.

    Examples
    --------
    >>> scaled("1.5", Fraction(60)), scaled(50, Fraction(1, 100)), scaled(-1, Fraction(1, 1000))
    (90, 1, -1)
    """
    number = _number(value)
    # A small negative number would be rounded up to 0, which is a value.
    return _bounded(-1 if number < 0 else math.ceil(Fraction(number) * factor))


def exact_number(value: object) -> int | Fraction:
    """Return a number as it is written, so that sums of decimals are exact.

    Examples
    --------
    >>> exact_number("0.1") + exact_number(0.2)
    Fraction(3, 10)
    """
    number = _number(value)
    return Fraction(repr(number)) if isinstance(number, float) else number


def exact_seconds(count: int, per_second: int) -> int | Fraction:
    """Return a number of parts of a second in seconds.

    Parameters
    ----------
    per_second
        Parts in a second.

    Examples
    --------
    >>> exact_seconds(1500, 1000), exact_seconds(2000, 1000)
    (Fraction(3, 2), 2)
    """
    whole, rest = divmod(count, per_second)
    return whole + Fraction(rest, per_second) if rest else whole


def _number(value: object) -> int | float | Fraction:
    """Return a finite number; raises ValueError for any other value."""
    # Before int, since True is an int in Python.
    if isinstance(value, bool):
        raise ValueError(f"expected a number, found {_shown(value)}")
    if isinstance(value, int | Fraction):
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


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)


class WallTime(NamedTuple):
    """Local time of a clock, without a zone.

    Attributes
    ----------
    seconds
        Seconds since the clock showed the beginning of 1970.
    """

    seconds: int | Fraction


class InSeconds(Fraction):
    """Seconds of an instant or a duration with a type that has a unit of its own."""


def iso_instant(text: str, zone: tzinfo | None) -> int | Fraction:
    """Return the Unix time, in seconds, of a text such as `2024-05-01T12:30:00+02:00`.

    Parts of a microsecond are cut off. Of a time that clocks show twice, the first is meant; a time
    that they skip counts as if they had not been put forward yet.

    Parameters
    ----------
    text
        An ISO 8601 time.
    zone
        Zone of times without an offset; None: there must be an offset.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"expected an ISO 8601 time, found {text[:40]!r}") from None
    return _instant(moment, zone)


def wall_instant(wall: WallTime, zone: tzinfo | None) -> int | Fraction:
    """Return the Unix time at which clocks in a zone show a local time; see `iso_instant`."""
    try:
        moment = _NAIVE_EPOCH + timedelta(seconds=wall.seconds // 1)
    except OverflowError:
        raise ValueError("expected a time from year 1 to 9999") from None
    return _instant(moment, zone) + wall.seconds % 1


def unix_time(moment: datetime) -> int | Fraction:
    """Return the Unix time, in seconds, of a time with a zone."""
    return exact_seconds((moment - _EPOCH) // _MICROSECOND, 10**6)


def _instant(moment: datetime, zone: tzinfo | None) -> int | Fraction:
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError("the time has no offset from UTC, and no 'time_zone' is given")
        moment = moment.replace(tzinfo=zone)
    try:
        return unix_time(moment)
    except OverflowError:
        raise ValueError("expected a time from year 1 to 9999") from None
