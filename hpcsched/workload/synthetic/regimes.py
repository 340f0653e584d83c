"""Regimes: run times that stay near one level for a while."""

from hpcsched.workload.synthetic.draws import Draws
from hpcsched.workload.synthetic.quantiles import Levels
from hpcsched.workload.synthetic.quota import Quota


class Regime:
    """Run times near one level, all within one stratum.

    Parameters
    ----------
    level
        The level, in seconds.
    spread
        Maximum deviation from the level, as a share of it.
    """

    __slots__ = ("_high", "_level", "_low", "_reach", "left")

    def __init__(self, levels: Levels, left: int, level: float, spread: float) -> None:
        stratum = levels.stratum
        self.left = left
        self._level = level
        self._reach = 2 * level * spread
        self._low = stratum.low
        # Strata are half-open, so that a run time belongs to one of them.
        self._high = max(stratum.high - 1, stratum.low)

    def run_time(self, draws: Draws) -> int:
        """Draw a run time in seconds."""
        drawn = int(self._level + self._reach * (draws.uniform() - 0.5) + 0.5)
        return min(max(drawn, self._low), self._high)


def take_regime(draws: Draws, quota: Quota, number: int, jobs: int, spread: float) -> Regime:
    """Return a regime of jobs from a stratum, at a level drawn from it.

    Jobs that end at their limit end anywhere within the stratum, independently.

    Parameters
    ----------
    number
        Index of the stratum.
    jobs
        Maximum number of jobs.
    spread
        Maximum deviation from the level, as a share of it.
    """
    levels = quota.levels[number]
    stratum = levels.stratum
    taken = quota.take(number, jobs)
    if stratum.limit is not None:
        middle = (stratum.low + stratum.high) / 2
        return Regime(levels, taken, middle, (stratum.high - stratum.low) / (2 * middle))
    return Regime(levels, taken, levels.at(draws.uniform()), spread)
