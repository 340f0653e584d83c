"""The objectives that come with hpcsched.

Each measures a finished run as its metric does. Those that are linear in start times can also be
planned with; a plan's cost is then the sum over its jobs, with predicted run times, where the
metric is a mean. PαSF is a ratio of sums, and can be planned with around a level.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost, SpecificCost, run_times, wait_times
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.metrics.capacity import makespan
from hpcsched.metrics.figures import AlphaParams, TauParams
from hpcsched.metrics.slowdown import mean_bounded_slowdown, mean_slowdown
from hpcsched.metrics.tables import Table
from hpcsched.metrics.times import mean_response_time
from hpcsched.metrics.weighted_response import area_weighted_response_time, specific_response_time
from hpcsched.parameters import Params
from hpcsched.system.system import IntArray


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Mean slowdown of jobs that ran for at least a second, a ratio."""

    def measure(self, jobs: Table) -> float | None:
        """Return the mean slowdown."""
        return mean_slowdown(jobs)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the sum of slowdowns (Galleguillos et al., CP 2021, section 2.2)."""
        times, waits = run_times(jobs), wait_times(jobs, now)
        weights = 1 / np.maximum(times, 1)
        return PlannedCost(weights, _no_time(jobs), len(jobs) + float(weights @ waits))


@dataclass(frozen=True, slots=True)
class BoundedSlowdown:
    """Mean bounded slowdown, a ratio; `tau` is the bound in seconds."""

    tau: int = 10

    def measure(self, jobs: Table) -> float | None:
        """Return the mean bounded slowdown."""
        return mean_bounded_slowdown(jobs, self.tau)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the sum of bounded slowdowns."""
        times, waits = run_times(jobs), wait_times(jobs, now)
        weights = 1 / np.maximum(times, max(self.tau, 1))
        free = np.maximum(self.tau - times - waits, 0)
        # At a start of `free` the response time is tau or, where that is more, the run time and
        # the wait so far.
        constant = float(weights @ (waits + times))
        return PlannedCost(weights, free, constant)


@dataclass(frozen=True, slots=True)
class AF:
    """Mean response time, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the mean response time."""
        return mean_response_time(jobs)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the sum of response times, in seconds."""
        constant = float((run_times(jobs) + wait_times(jobs, now)).sum())
        return PlannedCost(np.ones(len(jobs)), _no_time(jobs), constant)


@dataclass(frozen=True, slots=True)
class AWF:
    """Mean response time weighted by area, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the area-weighted mean response time."""
        return area_weighted_response_time(jobs)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the area-weighted mean response time, in seconds."""
        areas = np.array([float(job.area) for job in jobs])
        weights = areas / areas.sum() if len(jobs) else areas
        responses = run_times(jobs) + wait_times(jobs, now)
        return PlannedCost(weights, _no_time(jobs), float(weights @ responses))


@dataclass(frozen=True, slots=True)
class PSF:
    """Priority-weighted specific response time of level `alpha`, in seconds."""

    alpha: float = 2

    def measure(self, jobs: Table) -> float | None:
        """Return PαSF."""
        return specific_response_time(jobs, self.alpha)

    def planned_ratio(self, jobs: Sequence[WaitingJob], now: int, level: float) -> PlannedCost:
        """Return what planned starts add to the numerator, less `level` times the denominator."""
        amounts = np.array([float(job.demand) for job in jobs])
        specific = SpecificCost(self.alpha, level, amounts, wait_times(jobs, now).astype(float))
        return PlannedCost(np.zeros(len(jobs)), _no_time(jobs), specific=specific)


@dataclass(frozen=True, slots=True)
class Makespan:
    """Last end less first submission, in seconds."""

    def measure(self, jobs: Table) -> float | None:
        """Return the makespan."""
        return makespan(jobs)

    def planned_cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the last planned end, in seconds from now."""
        return PlannedCost(np.zeros(len(jobs)), _no_time(jobs), makespan=1.0)


def _no_time(jobs: Sequence[WaitingJob]) -> IntArray:
    return np.zeros(len(jobs), dtype=np.int64)


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
