"""What several tables of a comparison have alike: columns, intervals and notes."""

from hpcsched.metrics.bootstrap import LEVEL, RESAMPLES, Interval
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.tables.report_table import Cell

RANK_NOTE = "The p-th percentile of n values is the ⌈p n / 100⌉-th smallest; p50 is the median."

_PERCENT = f"{LEVEL:.0%}".removesuffix("%") + " %"
INTERVAL_NOTE = f"Intervals: {_PERCENT}, percentiles of the means of {RESAMPLES} resamples"
"""How intervals were made; what was drawn again and again is for the table to add."""


def plain(*names: str) -> tuple[tuple[str, str], ...]:
    """Return columns whose unit is in another column, or that have none."""
    return tuple((name, "") for name in names)


def ends(interval: Interval | None) -> tuple[Cell, ...]:
    """Return an interval's mean and its two ends; nothing three times where there is none."""
    return (None, None, None) if interval is None else tuple(interval)


def bounds_note(compared: ComparedStudy) -> list[str]:
    """Return what is to be said of the bound of bounded slowdowns."""
    taus = sorted({compared.jobs[one.name].tau for one in compared.study.runs})
    return [f"bounded_slowdown with tau = {', '.join(map(str, taus))} s."]
