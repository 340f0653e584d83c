"""The time axis of figures: dates where the trace has them, else hours or days since its origin."""

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


class TimeAxis(NamedTuple):
    """Places of simulated times on the axis of a figure.

    Attributes
    ----------
    begin, end
        Bounds, in simulated seconds.
    unit
        Seconds of the axis's unit.
    clock
        What the clocks of the trace show at its second 0, as seconds since 1970; None: no dates.
    """

    begin: int
    end: int
    title: str
    unit: int
    clock: int | None

    def places(self, seconds: Iterable[float]) -> list[float]:
        """Return the places of simulated times: milliseconds of a date, or the unit's multiples."""
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
        scale: Literal["linear", "utc"] = "linear" if self.clock is None else "utc"
        bounds = alt.Scale(type=scale, domain=self.places((self.begin, self.end)), nice=False)
        if labelled:
            date = "%-d %b" if self.end - self.begin > 5 * _DAY else "%-d %b %H:%M"
            axis = alt.Axis(title=self.title, format="~g" if self.clock is None else date)
        else:
            axis = alt.Axis(title=None, labels=False, ticks=False)
        kind = "Q" if self.clock is None else "T"
        return alt.X(
            f"{field}:{kind}", scale=bounds if bounded else alt.Scale(type=scale), axis=axis
        )

    def tooltip(self, field: str) -> alt.Tooltip:
        """Return the text of a place when a mark is pointed at."""
        if self.clock is None:
            return alt.Tooltip(f"{field}:Q")
        return alt.Tooltip(
            f"{field}:T",
            timeUnit="utcyearmonthdatehoursminutesseconds",
            format="%Y-%m-%d %H:%M:%S",
            title=field,
        )


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
        return TimeAxis(begin, end, f"{name} since the trace's origin", unit, None)
    title = f"from {first:%Y-%m-%d}, local time (UTC{first.isoformat()[-6:]})"
    ahead = first.utcoffset() or timedelta()
    return TimeAxis(begin, end, title, 1, calendar.start + round(ahead.total_seconds()))


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
