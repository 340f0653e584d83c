"""When jobs were submitted by the calendar: the instants that submit times stand for."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple
from zoneinfo import ZoneInfo

START = "UnixStartTime:"
ZONE_NAME = "TimeZoneString:"
ZONE_OFFSET = "TimeZone:"
TIME_COMMENTS = (START, ZONE_OFFSET, ZONE_NAME)
"""Header comments that say which instant a trace's second 0 is, and how clocks showed it."""

_MONDAY = int(datetime(2001, 1, 1, tzinfo=UTC).timestamp())
"""A Monday that is the first day of a year."""

_ABSOLUTE_FROM = 10**8
"""First submit times above this, over three years, are Unix times."""

_FOUR_CENTURIES = 146_097 * 86_400
"""Seconds after which the calendar begins again, weekdays too; dates have no end that way."""


class CalendarPlace(NamedTuple):
    """Hour (0 to 23), weekday (0 is Monday) and month (0 is January)."""

    hour: int
    weekday: int
    month: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """The Unix time of a trace's second 0, the zone of its clocks, and in words where from.

    It is not `known` where the trace does not say when it was.
    """

    start: int
    zone: tzinfo
    basis: str
    known: bool = True

    @property
    def of_unix_times(self) -> bool:
        """Whether submit times are Unix times, so that second 0 is of no use to anybody."""
        return self.known and self.start == 0

    def place(self, submit_time: int) -> CalendarPlace:
        """Return where in day, week and year a submit time in seconds is."""
        instant = datetime.fromtimestamp((self.start + submit_time) % _FOUR_CENTURIES, self.zone)
        return CalendarPlace(instant.hour, instant.weekday(), instant.month - 1)


def calendar_of(comments: Sequence[str], first_submit_time: int) -> Calendar:
    """Return the calendar of a trace with these header comments.

    Without a `UnixStartTime`, submit times are Unix times if the first is above 10⁸; if not, second
    0 is taken for a Monday midnight, the first of January.
    """
    start = _number(comments, START)
    zone, called = _zone(comments)
    if start is not None and start > 0:
        return Calendar(start, zone, f"the trace's {START} {start}, {called}")
    if first_submit_time > _ABSOLUTE_FROM:
        return Calendar(0, zone, f"submit times taken for Unix times, {called}")
    return Calendar(
        _MONDAY,
        UTC,
        "second 0, taken for midnight of a Monday, January 1: the trace does not say when it was",
        known=False,
    )


def moved_comments(comments: Sequence[str], seconds: int, first_submit_time: int) -> Sequence[str]:
    """Return a trace's header comments where what was this second is second 0 now.

    `first_submit_time` is that before. A trace that does not say when it was still does not.
    """
    calendar = calendar_of(comments, first_submit_time)
    if not (seconds and calendar.known):
        return comments
    start = f"{START} {calendar.start + seconds}"
    return [start, *(comment for comment in comments if not comment.startswith(START))]


def time_comments(comments: Sequence[str]) -> list[str]:
    """Return those of a trace's header comments that say when it was."""
    return [comment for comment in comments if comment.startswith(TIME_COMMENTS)]


def _zone(comments: Sequence[str]) -> tuple[tzinfo, str]:
    """Return the zone that the comments name, or their offset, or else UTC; and what to call it."""
    name = _text(comments, ZONE_NAME)
    if name:
        try:
            return ZoneInfo(name), name
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
    """Return what the first comment of this kind says."""
    for comment in comments:
        if comment.startswith(what):
            return comment.removeprefix(what).strip()
    return None
