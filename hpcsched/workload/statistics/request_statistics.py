"""Statistics of requests and run times of a trace's jobs."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.statistics.histogram import (
    LOGARITHMIC,
    RATIOS,
    Distribution,
    Histogram,
    share,
)


@dataclass(frozen=True, slots=True)
class OfferedLoad:
    """Requested amounts × run time, in percent of capacity × span; None without a span.

    Attributes
    ----------
    by_resource_percent
        Load by resource type.
    by_demand_percent
        Load by each job's largest share of any resource type.
    """

    by_resource_percent: dict[str, float | None]
    by_demand_percent: float | None


class LoadCounter:
    """Sum of requested amounts × run time; exclusive use of whole nodes does not count."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._areas = [0] * len(system.totals)
        self._demand_area = 0.0

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        job, run_time = traced
        largest = 0.0
        time_units = job.units * run_time
        for k, (amount, total) in enumerate(
            zip(job.unit_request, self._system.totals, strict=True)
        ):
            if amount and total:
                self._areas[k] += amount * time_units
                largest = max(largest, amount / total)
        self._demand_area += largest * time_units

    def result(self, span: int | None) -> OfferedLoad:
        """Return the offered load.

        Parameters
        ----------
        span
            Time from the first to the last submission, in seconds; None or 0: no load.
        """
        system = self._system
        return OfferedLoad(
            {
                name: 100 * area / (total * span) if total and span else None
                for name, area, total in zip(
                    system.resource_types, self._areas, system.totals, strict=True
                )
            },
            100 * self._demand_area / span if span else None,
        )


@dataclass(frozen=True, slots=True)
class RunTimeClass:
    """Jobs of a run-time class.

    Attributes
    ----------
    run_time_to_seconds
        Largest run time, included; None: no bound.
    run_time_share
        Share of the sum of all run times.
    """

    run_time_from_seconds: int
    run_time_to_seconds: int | None
    jobs: int
    jobs_share: float | None
    run_time_share: float | None


@dataclass(frozen=True, slots=True)
class RunTimes:
    """Distribution of run times, and run-time classes."""

    run_time_seconds: Distribution
    classes: tuple[RunTimeClass, ...]


class RunTimeCounter:
    """Counter of run times by class.

    Jobs below the first bound are in the first class, as in results; any other class but the last
    includes its upper bound.

    Parameters
    ----------
    class_bounds
        Ascending run times, in seconds.
    """

    def __init__(self, class_bounds: Sequence[int]) -> None:
        self._largest = [bound if k else bound - 1 for k, bound in enumerate(class_bounds)]
        self._jobs = [0] * (len(class_bounds) + 1)
        self._run_times = [0] * (len(class_bounds) + 1)
        self._histogram = Histogram(LOGARITHMIC)

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        run_time = traced.run_time
        k = bisect_left(self._largest, run_time)
        self._jobs[k] += 1
        self._run_times[k] += run_time
        self._histogram.add(run_time)

    def result(self) -> RunTimes:
        """Return the statistics of the jobs so far."""
        jobs, run_time = sum(self._jobs), sum(self._run_times)
        ends: list[int | None] = [*self._largest, None]
        starts = [0, *(largest + 1 for largest in self._largest)]
        return RunTimes(
            self._histogram.distribution(),
            tuple(
                RunTimeClass(start, end, count, share(count, jobs), share(time, run_time))
                for start, end, count, time in zip(
                    starts, ends, self._jobs, self._run_times, strict=True
                )
            ),
        )


@dataclass(frozen=True, slots=True)
class RequestKind:
    """Jobs that request the same set of resource types."""

    resources: str
    jobs: int
    jobs_share: float | None
    mean_run_time_seconds: float


@dataclass(frozen=True, slots=True)
class Sizes:
    """Distribution of sizes.

    Attributes
    ----------
    serial_share
        Share of jobs with one unit.
    power_of_two_share
        Share of jobs with a power of two of units, 1 included.
    kinds
        Jobs by their set of resource types, the most frequent first.
    """

    units: Distribution
    serial_share: float | None
    power_of_two_share: float | None
    kinds: tuple[RequestKind, ...]


class SizeCounter:
    """Counter of units and of requested sets of resource types."""

    def __init__(self, system: System) -> None:
        self._types = system.resource_types
        self._units = Histogram(LOGARITHMIC)
        self._serial = 0
        self._powers = 0
        self._jobs_of: Counter[tuple[bool, ...]] = Counter()
        self._time_of: Counter[tuple[bool, ...]] = Counter()

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        units = traced.job.units
        self._units.add(units)
        self._serial += units == 1
        self._powers += units & (units - 1) == 0
        # A kind is a set of types, without amounts: their number stays small in any trace.
        kind = tuple(map(bool, traced.job.unit_request))
        self._jobs_of[kind] += 1
        self._time_of[kind] += traced.run_time

    def result(self) -> Sizes:
        """Return the statistics of the jobs so far; the most frequent kind comes first."""
        jobs = self._jobs_of.total()
        kinds = (
            RequestKind(self._name(kind), count, share(count, jobs), self._time_of[kind] / count)
            for kind, count in self._jobs_of.items()
        )
        return Sizes(
            self._units.distribution(),
            share(self._serial, jobs),
            share(self._powers, jobs),
            tuple(sorted(kinds, key=lambda kind: (-kind.jobs, kind.resources))),
        )

    def _name(self, kind: tuple[bool, ...]) -> str:
        asked = (name for name, wanted in zip(self._types, kind, strict=True) if wanted)
        return "+".join(sorted(asked))


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Accuracy of requested times; the ratio is run time / requested time.

    Attributes
    ----------
    under_share
        Share of jobs that ran longer than requested.
    exact_share
        Share of jobs that ran exactly as long as requested.
    over_share
        Share of jobs that ran shorter than requested.
    near_share
        Share of jobs with a ratio from 0.75 to 1.25.
    """

    requested_time_seconds: Distribution
    mean_absolute_error_minutes: float | None
    under_share: float | None
    exact_share: float | None
    over_share: float | None
    near_share: float | None
    ratio: Distribution


class AccuracyCounter:
    """Counter of the differences between requested times and run times."""

    def __init__(self) -> None:
        self._requested = Histogram(LOGARITHMIC)
        self._ratios = Histogram(RATIOS)
        self._error = self._jobs = self._under = self._exact = self._near = 0

    def add(self, traced: TracedJob) -> None:
        """Count a job; a requested time of 0 s, which gives no ratio, counts as 1 s there."""
        run_time, requested = traced.run_time, traced.job.requested_time
        self._jobs += 1
        self._requested.add(requested)
        self._ratios.add(1 if run_time == requested else run_time / max(requested, 1))
        self._error += abs(requested - run_time)
        self._under += run_time > requested
        self._exact += run_time == requested
        # Ratio from 0.75 to 1.25, multiplied out so that the bounds are exact.
        self._near += 3 * requested <= 4 * run_time <= 5 * requested

    def result(self) -> Accuracy:
        """Return the statistics of the jobs so far."""
        jobs = self._jobs
        return Accuracy(
            self._requested.distribution(),
            self._error / jobs / 60 if jobs else None,
            share(self._under, jobs),
            share(self._exact, jobs),
            share(jobs - self._under - self._exact, jobs),
            share(self._near, jobs),
            self._ratios.distribution(),
        )
