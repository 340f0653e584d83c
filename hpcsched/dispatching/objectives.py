"""The objectives that come with hpcsched: each measures a finished run as its metric does."""

from dataclasses import dataclass

from hpcsched.metrics.capacity import makespan
from hpcsched.metrics.figures import AlphaParams, TauParams
from hpcsched.metrics.slowdown import mean_bounded_slowdown, mean_slowdown
from hpcsched.metrics.tables import Table
from hpcsched.metrics.times import mean_response_time
from hpcsched.metrics.weighted_response import area_weighted_response_time, specific_response_time
from hpcsched.parameters import Params


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Mean slowdown of jobs that ran for at least a second, a ratio."""

    def measure(self, jobs: Table) -> float | None:
        """Return the mean slowdown."""
        return mean_slowdown(jobs)


@dataclass(frozen=True, slots=True)
class BoundedSlowdown:
    """Mean bounded slowdown, a ratio; `tau` is the bound in seconds."""

    tau: int = 10

    def measure(self, jobs: Table) -> float | None:
        """Return the mean bounded slowdown."""
        return mean_bounded_slowdown(jobs, self.tau)


@dataclass(frozen=True, slots=True)
class AF:
    """Mean response time, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the mean response time."""
        return mean_response_time(jobs)


@dataclass(frozen=True, slots=True)
class AWF:
    """Mean response time weighted by area, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the area-weighted mean response time."""
        return area_weighted_response_time(jobs)


@dataclass(frozen=True, slots=True)
class PSF:
    """Priority-weighted specific response time of level `alpha`, in seconds."""

    alpha: float = 2

    def measure(self, jobs: Table) -> float | None:
        """Return PαSF."""
        return specific_response_time(jobs, self.alpha)


@dataclass(frozen=True, slots=True)
class Makespan:
    """Last end less first submission, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the makespan."""
        return makespan(jobs)


def make_slowdown(_params: Params, _context: object) -> Slowdown:
    """Return the objective `slowdown`."""
    return Slowdown()


def make_bounded_slowdown(params: TauParams, _context: object) -> BoundedSlowdown:
    """Return the objective `bounded_slowdown`."""
    return BoundedSlowdown(params.tau)


def make_af(_params: Params, _context: object) -> AF:
    """Return the objective `af`."""
    return AF()


def make_awf(_params: Params, _context: object) -> AWF:
    """Return the objective `awf`."""
    return AWF()


def make_psf(params: AlphaParams, _context: object) -> PSF:
    """Return the objective `psf`."""
    return PSF(params.alpha)


def make_makespan(_params: Params, _context: object) -> Makespan:
    """Return the objective `makespan`."""
    return Makespan()
