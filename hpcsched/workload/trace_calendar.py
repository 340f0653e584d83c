"""Calendar of a trace: dates of its submit times, times in scenarios, and names of its numbers."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    PlainValidator,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from hpcsched.errors import Finding, InputError
from hpcsched.parameters import LARGEST, Params, parse_duration

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


def time_zone(name: str) -> ZoneInfo:
    """Return a zone of the IANA time zone database."""
    try:
        return ZoneInfo(name)
    # A name may be malformed, name a folder of the database, or not exist.
    except (ValueError, OSError, LookupError):
        raise ValueError(
            f"expected a time zone such as Europe/Prague or UTC, found {name!r}"
        ) from None


def _known_zone(name: str) -> str:
    time_zone(name)
    return name


TimeZoneName = Annotated[str, AfterValidator(_known_zone)]
"""Name of a zone of the IANA time zone database."""


def _zone(comments: Sequence[str]) -> tuple[tzinfo, str]:
    """Return the zone in the comments, or their offset, or else UTC; and its name."""
    name = _text(comments, ZONE_NAME)
    if name:
        with suppress(ValueError):  # unknown here, or no name of a zone
            return time_zone(name), name
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


_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?")
_KEY = "trace.transforms"
"""Key of the scenario with the times of spans."""
_DURATION_PATTERN = r"^\s*(\d+\s*(s|min|h|d|w)\s*)+$"


def read_moment(value: Any) -> int | str:
    """Return whole seconds, or a date and time as it is written."""
    if isinstance(value, str):
        if re.match(r"\s*\d{4}-", value):
            return _read_date(value.strip())
        try:
            value = parse_duration(value)
        except ValueError:
            raise ValueError(
                "expected a duration such as 90s, 12h or 30d, or a date such as 2014-05-31 or"
                f" 2014-05-31T12:00, found {value!r}"
            ) from None
    # `True` is an int in Python, and YAML's `yes` would otherwise be one second.
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST:
        raise ValueError(f"expected a duration of 0 s to {LARGEST} s, or a date, found {value}")
    return value


def _read_date(text: str) -> str:
    try:
        if not _DATE.fullmatch(text):
            raise ValueError
        datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(
            f"expected a date such as 2014-05-31 or 2014-05-31T12:00, found {text!r}"
        ) from None
    return text


if TYPE_CHECKING:
    Moment = int | str
else:
    Moment = Annotated[
        int | str,
        PlainValidator(read_moment),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "integer", "minimum": 0},
                    {"type": "string", "pattern": _DURATION_PATTERN},
                    {"type": "string", "pattern": rf"^\s*{_DATE.pattern}\s*$"},
                ]
            }
        ),
    ]
    """A number of seconds, a text with units (`30d`), or a date and time by the trace's clocks."""


class Span(Params):
    """Part of a trace: the half-open interval from `start` to `end`."""

    start: Moment = 0
    """Begin: seconds or a duration (30d) since second 0 of the trace, or since the first submission
    where submit times are Unix times; or a date (2014-05-31, 2014-05-31T12:00) by the trace's own
    clocks."""
    end: Moment | None = None
    """End, as for `start`; jobs submitted then are outside. At the end of the trace, if not
    given."""

    @field_validator("end")
    @classmethod
    def _after_start(cls, end: int | str | None, info: ValidationInfo) -> int | str | None:
        start = info.data.get("start", 0)
        # Of a duration and a date, only the trace knows which is earlier.
        if isinstance(start, int) and isinstance(end, int) and end <= start:
            raise ValueError(f"expected an end after the start, {start} s, found {end} s")
        if isinstance(start, str) and isinstance(end, str) and _moment(end) <= _moment(start):
            raise ValueError(f"expected an end after the start, {start}, found {end}")
        return end

    def seconds(self, comments: Sequence[str], first_submit_time: int) -> tuple[int, int | None]:
        """Return the submit times at which the part begins and ends.

        Parameters
        ----------
        first_submit_time
            First submit time of the trace, in seconds.

        Returns
        -------
        tuple
            Begin, and end or None for the end of the trace, in seconds.
        """
        calendar = calendar_of(comments, first_submit_time)
        origin = calendar.origin(first_submit_time)
        start = second_of(self.start, calendar, origin, _KEY)
        end = None if self.end is None else second_of(self.end, calendar, origin, _KEY)
        if end is not None and end <= start:
            message = (
                f"expected an end after the start: {self.start} is second {start} of the trace, and"
                f" {self.end} is second {end}"
            )
            raise InputError(Finding("empty-window", message, key=_KEY))
        return start, end


def second_of(moment: int | str, calendar: Calendar, origin: int, key: str = "") -> int:
    """Return the second of a trace for a duration or a date.

    Parameters
    ----------
    moment
        Seconds since `origin`, or a date and time in the calendar's zone.
    origin
        Second from which durations count.
    key
        Key of a scenario that has the date, for messages; empty if none.
    """
    if isinstance(moment, int):
        return origin + moment
    if not calendar.known:
        message = (
            f"{moment} is no second of this trace, which does not say when it was; expected a"
            " duration since its second 0, such as 30d"
        )
        raise InputError(Finding("no-dates", message, key=key))
    return int(_moment(moment).replace(tzinfo=calendar.zone).timestamp()) - calendar.start


def simulated_second(given: int | str, calendar: Calendar, first_submit_time: int) -> int:
    """Return the simulated second of a time that a user gives to a command.

    Parameters
    ----------
    given
        Simulated seconds, also as text; or a duration or date as in a scenario: `2d12h` since
        second 0 of the trace, or `1996-11-15T08:00` by its clocks.
    first_submit_time
        First submit time of the trace, from which durations count if it is a Unix time.
    """
    if isinstance(given, int) or given.lstrip("-").isdecimal():
        return int(given)
    try:
        moment = read_moment(given)
    except ValueError as error:
        message = f"a time is a number of simulated seconds, a duration or a date: {error}"
        raise InputError(Finding("bad-time", message)) from None
    return second_of(moment, calendar, calendar.origin(first_submit_time))


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


KINDS = {
    "user": "User",
    "group": "Group",
    "application": "Application",
    "queue": "Queue",
    "partition": "Partition",
}
"""Header comments with names, by the numbers that they are for."""


def trace_names(comments: Sequence[str], kind: str) -> Mapping[int, str]:
    """Return the names for the numbers of one kind.

    Parameters
    ----------
    comments
        Header comments of the trace, such as `Partition: 3 gpu` of the Parallel Workloads Archive.
        Only the part before ` - ` counts as the name: some logs have a description after it.

    Examples
    --------
    >>> trace_names(["Queue: 1 day", "Queue:  2 - Night - any size"], "queue")
    {1: 'day', 2: 'Night'}
    """
    named = re.compile(rf"\s*{KINDS[kind]}:\s*(\d+)\s+(?:-\s+)?(\S.*)")
    found = filter(None, map(named.match, comments))
    return {int(one[1]): one[2].split(" - ")[0].strip() for one in found}
