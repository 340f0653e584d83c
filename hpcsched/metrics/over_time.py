"""Piecewise constant time series, such as jobs waiting or cores in use."""

from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric import Column


class OverTime(NamedTuple):
    """Time series that is constant between instants.

    Attributes
    ----------
    instants
        Simulated seconds, ascending, `[K + 1]`.
    levels
        Value from `instants[k]` to `instants[k + 1]`, `[K]`.
    """

    instants: Column
    levels: FloatColumn

    @property
    def seconds(self) -> Column:
        """Duration of each level, `[K]`."""
        return np.diff(self.instants)


def over_time(since: Column, until: Column, amounts: Column | None = None) -> OverTime:
    """Return the time series of a sum of amounts, each present in a half-open interval.

    Parameters
    ----------
    since
        Begin of each interval, in seconds, `[J]`.
    until
        End of each interval, in seconds, `[J]`.
    amounts
        Amount of each interval, `[J]`; 1 if None.
    """
    if amounts is None:
        amounts = np.ones(len(since), np.int64)
    # Changes at one instant are added up, so that no level has a duration of 0.
    instants, place = np.unique(np.concatenate((since, until)), return_inverse=True)
    changes = np.zeros(len(instants), np.int64)
    np.add.at(changes, place, np.concatenate((amounts, -amounts)))
    return OverTime(instants, np.cumsum(changes)[:-1].astype(np.float64))


def spanning(course: OverTime, begin: int, end: int) -> OverTime:
    """Return a time series from `begin` to `end`, in s, with 0 outside its own span."""
    instants = np.unique(np.clip(np.concatenate((course.instants, [begin, end])), begin, end))
    at = np.searchsorted(course.instants, instants[:-1], side="right") - 1
    # Before the first instant `at` is -1 and from the last on it is K: both are the 0 appended.
    return OverTime(instants, np.append(course.levels, 0.0)[at])


def time_mean(course: OverTime) -> float | None:
    """Return the mean of a time series, weighted by duration; None without duration."""
    total = int(course.seconds.sum())
    return float((course.levels * course.seconds).sum()) / total if total else None


def time_quantile(course: OverTime, percent: int) -> float | None:
    """Return a percentile of a time series, weighted by duration; None without duration.

    Parameters
    ----------
    percent
        From 1 to 100; by nearest rank over seconds.
    """
    total = int(course.seconds.sum())
    if not total:
        return None
    order = np.argsort(course.levels, kind="stable")
    upto = np.cumsum(course.seconds[order])
    # Whole numbers, so that the rank is exact.
    rank = -(-percent * total // 100)
    return float(course.levels[order][np.searchsorted(upto, max(rank, 1))])


def binned(course: OverTime, bins: int) -> tuple[FloatColumn, FloatColumn, FloatColumn]:
    """Return the means and maxima of a time series over equal spans of time.

    Parameters
    ----------
    bins
        Number of spans; a series of at most this many levels keeps its own spans.

    Returns
    -------
    tuple
        Bounds of the spans in s, `[B + 1]`, and means and maxima, `[B]` each.
    """
    if len(course.levels) <= bins:
        return course.instants.astype(np.float64), course.levels, course.levels
    edges = np.linspace(float(course.instants[0]), float(course.instants[-1]), bins + 1)
    upto = np.concatenate(([0.0], np.cumsum(course.levels * course.seconds)))
    means = np.diff(np.interp(edges, course.instants, upto)) / np.diff(edges)
    # A span's maximum is over the levels that begin in it, and the one that it begins with.
    first = np.searchsorted(course.instants, edges[:-1], side="right") - 1
    after = np.searchsorted(course.instants[:-1], edges[1:], side="left")
    maxima = np.array([course.levels[a:b].max() for a, b in zip(first, after, strict=True)])
    return edges, means, maxima
