"""Times of a trace in scenarios: seconds since its beginning, or dates and times."""

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, PlainValidator, ValidationInfo, WithJsonSchema, field_validator

from hpcsched.errors import Finding, InputError
from hpcsched.parameters import LARGEST, Params, parse_duration
from hpcsched.workload.trace_calendar import Calendar, calendar_of

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2})?)?")
_KEY = "trace.transforms"
"""Key of the scenario with the times of spans."""
_DURATION_PATTERN = r"^\s*(\d+\s*(s|min|h|d|w)\s*)+$"


def read_moment(value: Any) -> int | str:
    """Return whole seconds, or a date and time as it is written.

    Raises
    ------
    ValueError
        If the value is neither a duration nor a date.
    """
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

    start: Moment = Field(
        0,
        description="Begin: seconds or a duration (30d) since second 0 of the trace, or"
        " since the first submission where submit times are Unix times; or a date (2014-05-31,"
        " 2014-05-31T12:00) by the trace's own clocks.",
    )
    end: Moment | None = Field(
        None,
        description="End, as for `start`; jobs submitted then are outside."
        " At the end of the trace, if not given.",
    )

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

        Raises
        ------
        InputError
            If a date is given and the trace has none, or the end is not after the start.
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

    Raises
    ------
    InputError
        If a date is given and the trace has none.
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

    Raises
    ------
    InputError
        It is none of them, or a date and the trace has none.

    Examples
    --------
    >>> simulated_second("1d", calendar_of([], 0), 0)
    86400
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
