"""The time axis of figures: dates where the trace has them, else hours or days since its origin."""

import math
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Literal, NamedTuple

import altair as alt

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import time_unit
from hpcsched.system.system import IntArray
from hpcsched.workload.trace_calendar import Calendar

_DAY = 86_400
_STEPS = {
    "seconds": (1, 2, 5, 10, 20, 30, 60, 120),
    "minutes": (1, 2, 5, 10, 15, 30, 60),
    "hours": (0.25, 0.5, 1, 2, 3, 6, 12, 24, 48),
    "days": (1, 2, 7, 14, 28),
}
"""Distances of the marks of an axis, in its unit; above the last one, Vega chooses."""
_LATE = 5 * _DAY
"""End of a window from which on clock times are easier to read than large numbers, in seconds."""
_MARKS = 9
"""Largest number of marks whose distances are chosen here."""


class TimeAxis(NamedTuple):
    """Places and labels of simulated times on the axis of a figure.

    Attributes
    ----------
    begin, end
        Bounds, in simulated seconds.
    unit
        Seconds of its unit.
    unit_name
        Name of the unit in the plural; empty if the axis has dates.
    clock
        What the clocks of the trace show at its second 0, as seconds since 1970; None: no dates.
    late
        Whether labels have days and clock times since the origin, and places are seconds: a window
        of hours after weeks.
    """

    begin: int
    end: int
    title: str
    unit: int
    unit_name: str
    clock: int | None
    late: bool = False

    def places(self, seconds: Iterable[float]) -> list[float]:
        """Return the places of simulated times: milliseconds of a date, or the unit's multiples."""
        if self.late:
            # Whole numbers are not rounded to six digits.
            return [round(second) for second in seconds]
        if self.clock is None:
            return [second / self.unit for second in seconds]
        # Vega counts milliseconds; whole numbers are not rounded to six digits.
        return [round(1000 * (self.clock + second)) for second in seconds]

    def x(self, field: str, *, bounded: bool = True, labelled: bool = True) -> alt.X:
        """Return the axis for a column of places.

        Parameters
        ----------
        bounded
            Whether the axis ends at the bounds; else it ends where the data do, and can be zoomed.
        labelled
            Whether it has labels and a title; panels above another one need none.
        """
        axis = self._axis(marked=bounded)
        if not labelled:
            axis = alt.Axis(title=None, labels=False, ticks=False, values=axis.values)
        kind = "Q" if self.clock is None else "T"
        scale: Literal["linear", "utc"] = "linear" if self.clock is None else "utc"
        bounds = alt.Scale(type=scale, domain=self.places((self.begin, self.end)), nice=False)
        return alt.X(
            f"{field}:{kind}", scale=bounds if bounded else alt.Scale(type=scale), axis=axis
        )

    def tooltip(self, field: str) -> alt.Tooltip:
        """Return the text of a place when a mark is pointed at."""
        if self.clock is None:
            unit = "seconds" if self.late else self.unit_name
            return alt.Tooltip(f"{field}:Q", title=f"{field} [{unit}]")
        return alt.Tooltip(
            f"{field}:T",
            timeUnit="utcyearmonthdatehoursminutesseconds",
            format="%Y-%m-%d %H:%M:%S",
            title=field,
        )

    def _axis(self, *, marked: bool) -> alt.Axis:
        if self.clock is None:
            marks = self._marks() if marked else []
            # In full: as a format of the axis, Vega would write 8.3 for 8.25.
            label = self._clock_label() if self.late else "format(datum.value, '~g')"
            return alt.Axis(title=self.title, values=marks or alt.Undefined, labelExpr=label)
        months = self.end - self.begin > 400 * _DAY
        midnight = "utchours(datum.value) + utcminutes(datum.value) + utcseconds(datum.value) == 0"
        day = "%b %Y" if months else "%-d %b"
        clock = "%H:%M" if self.end - self.begin > 600 else "%H:%M:%S"
        label = f"utcFormat(datum.value, {midnight} ? '{day}' : '{clock}')"
        return alt.Axis(title=self.title, labelExpr=label)

    def _marks(self) -> list[float]:
        """Return the multiples of a step at which the clock is read, such as 6 hours."""
        size = self.unit if self.late else 1
        low, high = (place / size for place in self.places((self.begin, self.end)))
        for step in _STEPS[self.unit_name]:
            first, last = math.ceil(low / step), math.floor(high / step)
            if last - first < _MARKS:
                return [size * step * k for k in range(first, last + 1)]
        return []

    def _clock_label(self) -> str:
        """Return the expression of a label such as 9 d 18:00."""
        parts = [
            f"floor(datum.value / {_DAY}) + ' d ' + format(floor(datum.value / 3600) % 24, '02')"
        ]
        parts.append("format(floor(datum.value / 60) % 60, '02')")
        if self.unit == 1:
            parts.append("format(datum.value % 60, '02')")
        return " + ':' + ".join(parts)


def time_axis(begin: int, end: int, calendar: Calendar | None = None) -> TimeAxis:
    """Return the axis for a span of simulated time.

    Parameters
    ----------
    begin, end
        Bounds, in simulated seconds.
    calendar
        Calendar of the trace. If it knows dates, these are shown, by the clocks of the trace at the
        begin: summer time that begins or ends later is not followed.

    Examples
    --------
    >>> time_axis(0, 10 * 3600).title
    "hours since the trace's origin"
    """
    first = None if calendar is None else calendar.date(begin)
    # A day more: the clocks at the begin may show a later date than those at the end.
    if calendar is None or first is None or calendar.date(end + _DAY) is None:
        unit, name = time_unit(end - begin)
        if name != "days" and end >= _LATE:
            title = "days and hours since the trace's origin"
            return TimeAxis(begin, end, title, unit, name, None, late=True)
        # A short window late in the trace: 8.5 hours rather than 510 minutes.
        if name == "minutes" and end > 3 * 3600:
            unit, name = 3600, "hours"
        return TimeAxis(begin, end, f"{name} since the trace's origin", unit, name, None)
    offset = first.utcoffset()
    ahead = 0 if offset is None else int(offset.total_seconds())
    # `datetime` adds to the date that the clock shows, whatever the zone does later.
    last = first + timedelta(seconds=end - begin)
    days = end - begin < 3 * _DAY
    ends = [f"{one.day} {one:%b %Y}" if days else str(one.year) for one in (first, last)]
    when = " to ".join(dict.fromkeys(ends))
    title = f"{when}, local time (UTC{first:%z}"
    title = f"{title[:-2]}:{title[-2:]})"
    return TimeAxis(begin, end, title, 1, "", calendar.start + ahead)


def axis_of_trace(
    compared: ComparedStudy, group: str, instants: Sequence[FloatColumn | IntArray]
) -> TimeAxis:
    """Return the axis for time series of runs of one trace.

    Parameters
    ----------
    instants
        Ascending instants of each series, in simulated seconds.
    """
    ends = [round(one[k]) for one in instants if len(one) for k in (0, -1)] or [0]
    first = next(one for one in compared.study.runs if one.group == group)
    return time_axis(min(ends), max(ends), first.run.calendar)
