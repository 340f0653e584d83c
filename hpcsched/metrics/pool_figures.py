"""Figures of a shared resource (pool) over a run: sum over time, mean, peak, and excess."""

from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric_tables import Column
from hpcsched.metrics.over_time import OverTime, time_mean


class PoolFigures(NamedTuple):
    """Figures of one pool over all jobs that ran, from the first submission to the last end.

    Attributes
    ----------
    energy
        Amount × time, in the pool's unit × seconds: joules for watts.
    mean, peak
        Amount drawn, in the pool's unit.
    over_cap_time
        Seconds with more drawn than offered.
    over_cap_energy, over_cap_peak
        Excess × time, and largest excess.
    """

    energy: int
    mean: float | None
    peak: int
    over_cap_time: int
    over_cap_energy: int
    over_cap_peak: int


def pool_figures(instants: Column, drawn: Column, offered: Column) -> PoolFigures:
    """Return the figures of a pool from its time series.

    Parameters
    ----------
    instants
        Ascending seconds, `[K]`; the last is the end.
    drawn, offered
        Amounts from each instant on, `[K]`.
    """
    seconds = np.diff(instants)
    levels: Column = drawn[:-1]
    over = np.maximum(levels - offered[:-1], 0)
    floats: FloatColumn = levels.astype(np.float64)
    return PoolFigures(
        _sum(levels, seconds),
        time_mean(OverTime(instants, floats)),
        int(levels.max(initial=0)),
        int(seconds[over > 0].sum()),
        _sum(over, seconds),
        int(over.max(initial=0)),
    )


def _sum(levels: Column, seconds: Column) -> int:
    """Return Σ level × seconds, exactly."""
    return sum(a * b for a, b in zip(levels.tolist(), seconds.tolist(), strict=True))
