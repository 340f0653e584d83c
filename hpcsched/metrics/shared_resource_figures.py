"""Consumption of a shared resource over a run: energy, mean, peak, excess over the cap."""

from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric_tables import Column
from hpcsched.metrics.over_time import OverTime, time_mean


class SharedResourceFigures(NamedTuple):
    """Consumption of a shared resource by all jobs that ran, from first submission to last end.

    Attributes
    ----------
    energy
        Integral over time, in the shared resource's unit × seconds: joules if the unit is the watt.
    mean
        Mean draw, in the shared resource's unit; None without duration.
    peak
        Largest draw, in the shared resource's unit.
    over_cap_time
        Seconds with a draw above the capacity.
    over_cap_peak
        Largest excess, in the shared resource's unit.
    """

    energy: int
    mean: float | None
    peak: int
    over_cap_time: int
    over_cap_energy: int
    over_cap_peak: int


def shared_resource_figures(
    instants: Column, drawn: Column, offered: Column
) -> SharedResourceFigures:
    """Return the consumption of a shared resource from its draw and capacity over time.

    Parameters
    ----------
    instants
        Seconds, ascending, `[K]`; the last is the end.
    drawn
        Draw from each instant on, `[K]`; the last does not count.
    offered
        Capacity from each instant on, `[K]`; the last does not count.
    """
    seconds = np.diff(instants)
    levels: Column = drawn[:-1]
    over = np.maximum(levels - offered[:-1], 0)
    floats: FloatColumn = levels.astype(np.float64)
    return SharedResourceFigures(
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
