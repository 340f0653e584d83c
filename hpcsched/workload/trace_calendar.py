"""Calendar of a trace: dates and times of day of its submit times."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

START = "UnixStartTime:"
ZONE_NAME = "TimeZoneString:"
ZONE_OFFSET = "TimeZone:"
TIME_COMMENTS = (START, ZONE_OFFSET, ZONE_NAME)
"""Header comments with the date of a trace's second 0 and the zone of its clocks."""

_MONDAY = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
"""A Monday that is the first day of a year."""

_ABSOLUTE_FROM = 10**8
"""First submit times above this, over three years, are Unix times."""

_FOUR_CENTURIES = 146_097 * 86_400
"""Period of the calendar in seconds, weekdays included; it avoids the last date of `datetime`."""


class CalendarPlace(NamedTuple):
    """Hour (0 to 23), weekday (0 is Monday) and month (0 is January)."""

    hour: int
    weekday: int
    month: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """Unix time of a trace's second 0, and the zone of its clocks.

    Attributes
    ----------
    start
        Unix time of second 0.
    known
        False if the trace has no date.
    """

    start: int
    zone: tzinfo
    basis: str
    known: bool = True
    clock: str = "UTC"

    @property
    def of_unix_times(self) -> bool:
        """True if submit times are Unix times, so that second 0 is in 1970."""
        return self.known and self.start == 0

    def place(self, submit_time: int) -> CalendarPlace:
        """Return hour, weekday and month of a submit time in seconds."""
        instant = datetime.fromtimestamp((self.start + submit_time) % _FOUR_CENTURIES, self.zone)
        return CalendarPlace(instant.hour, instant.weekday(), instant.month - 1)

    def origin(self, first_submit_time: int) -> int:
        """Return the second from which durations count that users give."""
        return first_submit_time if self.of_unix_times else 0

    def date(self, second: int) -> datetime | None:
        """Return the date and time of day in the zone.

        Returns
        -------
        datetime or None
            None where the trace has no date, or the year is before 1 or after 9999.
        """
        if self.known:
            # Years beyond those of `datetime` are of no log, but a scenario may have any number.
            with suppress(OverflowError, ValueError, OSError):
                return datetime.fromtimestamp(self.start + second, self.zone)
        return None

    def text(self, second: int) -> str:
        """Return a time of the trace as people read it.

        Returns
        -------
        str
            Date and time of day in the zone; seconds where the trace has no date, or the year is
            after 9999.

        Examples
        --------
        >>> calendar_of(["UnixStartTime: 1400749079", "TimeZone: 7200"], 0).text(1)
        '2014-05-22 10:58:00'
        >>> calendar_of([], 0).text(90)
        '90 s'
        """
        date = self.date(second)
        return f"{second} s" if date is None else f"{date:%Y-%m-%d %H:%M:%S}"

    def instant(self, second: int) -> str:
        """Return a time as in `text`, within a sentence: `second 90` where there is no date."""
        return self.text(second) if self.known else f"second {second}"


NO_DATES = Calendar(
    _MONDAY,
    UTC,
    "second 0, taken for midnight of a Monday, January 1: the trace does not say when it was",
    known=False,
)
"""Calendar of a trace without a date."""


def calendar_of(comments: Sequence[str], first_submit_time: int) -> Calendar:
    """Return the calendar of a trace.

    Without a `UnixStartTime`, submit times are Unix times if the first is above 10⁸; otherwise
    second 0 counts as midnight of a Monday, the first of January.

    Parameters
    ----------
    first_submit_time
        First submit time, in seconds.
    """
    start = _number(comments, START)
    zone, called = _zone(comments)
    if start is not None and start > 0:
        return Calendar(start, zone, f"the trace's {START} {start}, {called}", clock=called)
    if first_submit_time > _ABSOLUTE_FROM:
        return Calendar(0, zone, f"submit times taken for Unix times, {called}", clock=called)
    return NO_DATES


def moved_comments(comments: Sequence[str], seconds: int, first_submit_time: int) -> Sequence[str]:
    """Return header comments after second 0 has moved; a trace without a date stays without.

    Parameters
    ----------
    seconds
        Old time of the new second 0.
    first_submit_time
        First submit time before, in seconds.
    """
    calendar = calendar_of(comments, first_submit_time)
    if not (seconds and calendar.known):
        return comments
    start = f"{START} {calendar.start + seconds}"
    return [start, *(comment for comment in comments if not comment.startswith(START))]


def time_comments(comments: Sequence[str]) -> list[str]:
    """Return the header comments that date the trace."""
    return [comment for comment in comments if comment.startswith(TIME_COMMENTS)]


def _zone(comments: Sequence[str]) -> tuple[tzinfo, str]:
    """Return the zone in the comments, or their offset, or else UTC; and its name."""
    name = _text(comments, ZONE_NAME)
    if name:
        try:
            return ZoneInfo(name), name
        # A name may be malformed, name a folder of the database, or not exist.
        except (ValueError, OSError, LookupError):  # unknown here, or no name of a zone
            pass
    offset = _number(comments, ZONE_OFFSET)
    if offset is not None and abs(offset) < 86_400:
        return timezone(timedelta(seconds=offset)), f"UTC{offset / 3600:+g} h"
    return UTC, "UTC"


def _number(comments: Sequence[str], what: str) -> int | None:
    try:
        return int((_text(comments, what) or "").split()[0])
    except (ValueError, IndexError):
        return None


def _text(comments: Sequence[str], what: str) -> str | None:
    """Return the value of the first comment of this kind."""
    for comment in comments:
        if comment.startswith(what):
            return comment.removeprefix(what).strip()
    return None
