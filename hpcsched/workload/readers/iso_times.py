"""Conversion of calendar times in logs to Unix times."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)


class WallTime(NamedTuple):
    """Local time of a clock, without a zone.

    Attributes
    ----------
    seconds
        Seconds since the clock showed the beginning of 1970.
    """

    seconds: int


class InSeconds(int):
    """Whole seconds, from an instant or duration whose type has a unit of its own."""


def iso_instant(text: str, zone: tzinfo | None) -> int:
    """Return the Unix time, in whole seconds, of a text such as `2024-05-01T12:30:00+02:00`.

    Fractions of a second are cut off. Of a time that clocks show twice, the first is meant; a time
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


def wall_instant(wall: WallTime, zone: tzinfo | None) -> int:
    """Return the Unix time at which clocks in a zone show a local time; otherwise as `iso_instant`.

    Parameters
    ----------
    wall
        The local time.
    zone
        The zone of the clock.

    Raises
    ------
    ValueError
        If the zone is None, or the year is not from 1 to 9999.
    """
    try:
        moment = _NAIVE_EPOCH + timedelta(seconds=wall.seconds)
    except OverflowError:
        raise ValueError("expected a time from year 1 to 9999") from None
    return _instant(moment, zone)


def _instant(moment: datetime, zone: tzinfo | None) -> int:
    if moment.tzinfo is None:
        if zone is None:
            raise ValueError("the time has no offset from UTC, and no 'time_zone' is given")
        moment = moment.replace(tzinfo=zone)
    try:
        return (moment - _EPOCH) // _SECOND
    except OverflowError:
        raise ValueError("expected a time from year 1 to 9999") from None
