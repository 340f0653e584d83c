"""Number of submissions in each hour: months, working days, hours of the day.

The weekly and daily cycle is assumed, in the shape that logs of production systems commonly have:
few jobs at night, a morning rise, a dip at noon, a long afternoon, weekends at less than half.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hpcsched.portable_math import plain_sum
from hpcsched.workload.synthetic.draws import Draws

HOUR = 3600
DAY = 24 * HOUR
HOURLY = (3, 2, 2, 2, 2, 2, 2, 3, 6, 11, 13, 13, 11, 10, 13, 14, 14, 12, 9, 7, 6, 5, 5, 4)
"""Weights of the hours of the day, from midnight on (assumed)."""
DAILY = (1.0, 1.05, 1.05, 1.0, 0.9, 0.45, 0.4)
"""Weights of the days of the week, from Monday on (assumed)."""
DAY_SPREAD = 0.5
HOUR_SPREAD = 0.4
"""How far days and hours stray from the cycle: standard deviations of logarithms (assumed)."""


class Month(NamedTuple):
    """Number of days and of submissions of a month."""

    days: int
    jobs: int


class Hour(NamedTuple):
    """Hour with submissions.

    Attributes
    ----------
    start
        Begin of the hour, in seconds since the beginning of the workload.
    """

    start: int
    jobs: int


def hours(draws: Draws, months: Sequence[Month], weekday: int) -> Iterator[Hour]:
    """Yield every hour with submissions; each month has exactly its number of jobs.

    Parameters
    ----------
    weekday
        Day of the week of the first day; Monday is 0.
    """
    first_day = 0
    for month in months:
        weights: list[float] = []
        for day in range(first_day, first_day + month.days):
            busy = DAILY[(weekday + day) % 7] * draws.log_normal(1.0, DAY_SPREAD)
            weights += [busy * weight * draws.log_normal(1.0, HOUR_SPREAD) for weight in HOURLY]
        whole, upto, made = plain_sum(weights), 0.0, 0
        for hour, weight in enumerate(weights):
            upto += weight
            last = hour == len(weights) - 1
            # Cumulative rounding: hours add up to exactly the month's jobs.
            due = month.jobs if last else int(month.jobs * (upto / whole))
            if due > made:
                yield Hour(first_day * DAY + hour * HOUR, due - made)
                made = due
        first_day += month.days
