"""Parts shared by tables: columns, intervals, notes and durations."""

from hpcsched.metrics.bootstrap import LEVEL, RESAMPLES, Interval
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.tables.report_table import Cell

RANK_NOTE = "The p-th percentile of n values is the ⌈p n / 100⌉-th smallest; p50 is the median."

_DAY, _HOUR, _MINUTE = 86_400, 3600, 60
_PERCENT = f"{LEVEL:.0%}".removesuffix("%") + " %"
INTERVAL_NOTE = f"Intervals: {_PERCENT}, percentiles of the means of {RESAMPLES} resamples"
"""Method of the intervals; each table adds the unit that was resampled."""


def plain(*names: str) -> tuple[tuple[str, str], ...]:
    """Return columns without a unit of their own.

    Examples
    --------
    >>> plain("run", "unit")
    (('run', ''), ('unit', ''))
    """
    return tuple((name, "") for name in names)


def ends(interval: Interval | None) -> tuple[Cell, ...]:
    """Return the mean and the two ends of an interval.

    Parameters
    ----------
    interval
        An interval; None gives three missing values.
    """
    return (None, None, None) if interval is None else tuple(interval)


def bounds_note(compared: ComparedStudy) -> list[str]:
    """Return the note on the bound of bounded slowdowns."""
    taus = sorted({compared.jobs[one.name].tau for one in compared.study.runs})
    return [f"bounded_slowdown with tau = {', '.join(map(str, taus))} s."]


def duration_text(seconds: int) -> str:
    """Return a duration in days, hours, minutes and seconds, rounded to one or two units.

    Examples
    --------
    >>> duration_text(42), duration_text(754), duration_text(9000), duration_text(180_000)
    ('42 s', '13 min', '2 h 30 min', '2 d 2 h')
    """
    if seconds < _MINUTE:
        return f"{seconds} s"
    if seconds < _HOUR - _MINUTE // 2:
        return f"{round(seconds / _MINUTE)} min"
    if seconds < _DAY:
        hours, minutes = divmod(round(seconds / _MINUTE), 60)
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    days, hours = divmod(round(seconds / _HOUR), 24)
    return f"{days} d {hours} h" if hours else f"{days} d"
