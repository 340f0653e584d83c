"""What was drawn from a pool over a run: sum over time, mean, peak, and what was over the cap."""

from typing import NamedTuple

import numpy as np

from hpcsched.metrics.over_time import OverTime, time_mean
from hpcsched.metrics.sums import FloatColumn
from hpcsched.metrics.tables import Column


class PoolFigures(NamedTuple):
    """What was drawn from one pool.

    `energy` is the sum over time, in the pool's unit × seconds: joules where that is the watt.
    `mean` and `peak` are in the pool's unit. `over_cap_time` is for how many seconds more was drawn
    than the pool offered, `over_cap_energy` how much more over that time, and `over_cap_peak` how
    much more at most. Population: all jobs that ran, from the first submission to the last end.
    """

    energy: int
    mean: float | None
    peak: int
    over_cap_time: int
    over_cap_energy: int
    over_cap_peak: int


def pool_figures(instants: Column, drawn: Column, offered: Column) -> PoolFigures:
    """Return the figures of a pool of which so much is drawn and offered from instants on.

    All are `[K]`; instants are in seconds and ascend. The last is the end, from which nothing
    counts.
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
