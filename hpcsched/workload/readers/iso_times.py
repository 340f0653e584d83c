"""Conversion of calendar times in logs to Unix times."""

from datetime import UTC, datetime, timedelta, tzinfo
from fractions import Fraction
from typing import NamedTuple

from hpcsched.workload.readers.quantities import exact_seconds

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

    Raises
    ------
    ValueError
        If the text is no such time.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"expected an ISO 8601 time, found {text[:40]!r}") from None
    return _instant(moment, zone)


def wall_instant(wall: WallTime, zone: tzinfo | None) -> int | Fraction:
    """Return the Unix time at which clocks in a zone show a local time; otherwise as `iso_instant`.

    Raises
    ------
    ValueError
        If the zone is None, or the year is not from 1 to 9999.
    """
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
