"""Tabulated distributions of run times: numbers of jobs in several narrow strata.

Between the bounds of a stratum the quantile function is log-linear, so the whole table is a
piecewise log-linear quantile function with knots at the bounds. Its mean is known in closed form,
so it is easy to fit to published means and shares.
"""

from functools import cached_property
from typing import NamedTuple

from hpcsched.portable_math import exp, log


class Stratum(NamedTuple):
    """Stratum of a distribution of run times.

    Attributes
    ----------
    low
        Shortest run time, in seconds.
    high
        Longest run time, in seconds.
    limit
        Requested time of jobs that end at it or a little later; None: any.
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
    """Quantile function of a stratum."""

    def __init__(self, stratum: Stratum) -> None:
        self.stratum = stratum

    @cached_property
    def _width(self) -> float:
        return log(self.stratum.high / self.stratum.low)

    def at(self, place: float) -> float:
        """Return the quantile of a probability from 0 to 1, in seconds."""
        return self.stratum.low * exp(self._width * place)


def mean_of(strata: tuple[Stratum, ...]) -> float:
    """Return the mean run time of a table, in seconds."""
    jobs = sum(stratum.jobs for stratum in strata)
    return sum(stratum.jobs * stratum.mean() for stratum in strata) / jobs
