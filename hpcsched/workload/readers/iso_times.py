"""Times of the calendar as logs write them, turned into Unix times."""

from datetime import UTC, datetime, timedelta, tzinfo
from typing import NamedTuple

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAIVE_EPOCH = datetime(1970, 1, 1)
_SECOND = timedelta(seconds=1)


class WallTime(NamedTuple):
    """What a clock showed, as the seconds since it showed the beginning of 1970."""

    seconds: int


def iso_instant(text: str, zone: tzinfo | None) -> int:
    """Return the Unix time of a time such as `2024-05-01T12:30:00+02:00`, in whole seconds.

    Parts of a second are cut off. A time without an offset is one of `zone`. Where clocks are put
    back and show a time twice, the first is meant; where they are put forward, a time that they
    never show is counted as if they had not been yet. Raises ValueError for anything else.
    """
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"expected an ISO 8601 time, found {text[:40]!r}") from None
    return _instant(moment, zone)


def wall_instant(wall: WallTime, zone: tzinfo | None) -> int:
    """Return the Unix time at which clocks in a zone show this; as `iso_instant` otherwise."""
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
