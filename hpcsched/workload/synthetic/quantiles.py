"""Tabulated distributions of run times: so many jobs in each of several narrow strata.

Between the bounds of a stratum the quantile function is log-linear, so the whole table is a
piecewise log-linear quantile function whose knots are the bounds. Its mean is known in closed form,
which is what makes it easy to fit to published means and shares.
"""

from functools import cached_property
from typing import NamedTuple

from hpcsched.workload.synthetic.portable import exp, log


class Stratum(NamedTuple):
    """So many jobs that run from `low` to `high` seconds.

    `length` is how many of them a user submits in one campaign, on average. With a `limit`, they
    are those that end at that requested time, or a little later.
    """

    jobs: int
    low: int
    high: int
    length: float
    limit: int | None = None

    def mean(self) -> float:
        """Return the mean run time in seconds."""
        if self.high == self.low:
            return float(self.low)
        return (self.high - self.low) / log(self.high / self.low)


class Levels:
    """Draws run times from a stratum by their place in it, from 0 to 1."""

    def __init__(self, stratum: Stratum) -> None:
        self.stratum = stratum

    @cached_property
    def _width(self) -> float:
        return log(self.stratum.high / self.stratum.low)

    def at(self, place: float) -> float:
        """Return the run time that this share of the stratum's jobs stays below, in seconds."""
        return self.stratum.low * exp(self._width * place)


def mean_of(strata: tuple[Stratum, ...]) -> float:
    """Return the mean run time of a table, in seconds."""
    jobs = sum(stratum.jobs for stratum in strata)
    return sum(stratum.jobs * stratum.mean() for stratum in strata) / jobs
