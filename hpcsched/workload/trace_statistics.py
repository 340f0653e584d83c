"""Statistics of a trace, from one pass that keeps no jobs."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from hpcsched.system.system import Request, System
from hpcsched.workload.job_batches import NO_JOBS, JobColumns, batches_of
from hpcsched.workload.trace_calendar import Calendar, calendar_of
from hpcsched.workload.trace_source import TraceSource

BINS_PER_DECADE = 24
_DECADES = 16
"""Up to the largest numbers that there are, 2⁵³."""

LOGARITHMIC: Sequence[float] = (
    0,
    *sorted(
        {
            math.ceil(10**decade * 10 ** (k / BINS_PER_DECADE))
            for decade in range(_DECADES)
            for k in range(BINS_PER_DECADE)
        }
    ),
)
"""Lower edges of bins of whole numbers: 24 a decade, as far as it has as many whole numbers.

A number below 10 has a bin of its own. The numbers of a larger bin differ by less than 11 %.
"""

RATIOS: Sequence[float] = (*(k / 100 for k in range(101)), math.nextafter(1, 2))
"""Lower edges of bins of ratios: 100 below 1, one for exactly 1, one above."""


@dataclass(frozen=True, slots=True)
class Distribution:
    """Summary of values from a histogram, in the values' own unit; None without values.

    Attributes
    ----------
    p25, p50, p75, p90, p99
        Percentiles: each the mean of the bin that holds it.
    max
        Exact maximum.
    bins
        Lower edge and count of each bin that is not empty.
    """

    count: int
    mean: float | None
    p25: float | None
    p50: float | None
    p75: float | None
    p90: float | None
    p99: float | None
    max: float | None
    bins: tuple[tuple[float, int], ...]


class Histogram:
    """Counts and sums of values by bin, from the lower edges of the bins, ascending."""

    def __init__(self, edges: Sequence[float]) -> None:
        self._edges = np.array(edges)
        self._counts = np.zeros(len(edges), np.int64)
        self._sums = np.zeros_like(self._edges)
        self._max: float | None = None

    def add(self, values: npt.NDArray[Any]) -> None:
        """Count values by edges; none may be below the first edge."""
        if len(values):
            # A value on an edge belongs to the bin that begins there.
            bins = np.searchsorted(self._edges, values, side="right") - 1
            np.add.at(self._counts, bins, 1)
            np.add.at(self._sums, bins, values)
            self._max = max(values.max().item(), self._max or 0)

    def distribution(self) -> Distribution:
        """Return the summary of the values so far."""
        count = int(self._counts.sum())
        upto = np.cumsum(self._counts)

        def quantile(percent: int) -> float | None:
            """Return the mean of the bin with this percentile by nearest rank."""
            # Nearest rank by whole numbers; a float product could be just above a multiple.
            k = np.searchsorted(upto, -(-percent * count // 100))
            return float(self._sums[k] / self._counts[k]) if count else None

        filled = np.flatnonzero(self._counts)
        bins = zip(self._edges[filled].tolist(), self._counts[filled].tolist(), strict=True)
        mean = sum(self._sums.tolist()) / count if count else None
        p25, p50, p75, p90, p99 = map(quantile, (25, 50, 75, 90, 99))
        return Distribution(count, mean, p25, p50, p75, p90, p99, self._max, tuple(bins))


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole, from 0 to 1; None if the whole is 0."""
    return part / whole if whole else None


_DAY = 86_400


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Times of submissions.

    Attributes
    ----------
    span_days
        The same in days.
    interarrival_time_seconds
        Distribution of times between consecutive submissions.
    """

    jobs: int
    first_submit_time_seconds: int | None
    last_submit_time_seconds: int | None
    span_seconds: int | None
    span_days: float | None
    interarrival_time_seconds: Distribution


@dataclass(frozen=True, slots=True)
class Submitters:
    """Users and queues of the jobs.

    Attributes
    ----------
    users_with_several_jobs_share
        Share of users with more than one job.
    jobs_without_user
        Number of jobs whose user is not given.
    jobs_without_queue
        Number of jobs whose queue is not given.
    """

    users: int
    users_with_several_jobs_share: float | None
    jobs_without_user: int
    queues: int
    jobs_by_queue: dict[int, int]
    jobs_without_queue: int


@dataclass(frozen=True, slots=True)
class Cycles:
    """Shares of jobs by hour of day, weekday (Monday first) and month; zeros without jobs.

    Attributes
    ----------
    counted_from
        Date of second 0 and its origin, in words.
    dated
        False if the trace has no date, so that months mean nothing.
    """

    counted_from: str
    dated: bool
    hour_shares: tuple[float, ...]
    weekday_shares: tuple[float, ...]
    month_shares: tuple[float, ...]


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


@dataclass(frozen=True, slots=True)
class TraceStatistics:
    """Statistics of a trace."""

    arrivals: Arrivals
    submitters: Submitters
    offered_load: OfferedLoad
    run_times: RunTimes
    sizes: Sizes
    accuracy: Accuracy
    cycles: Cycles


class StatisticsCounter:
    """Counter of all statistics; it grows with the numbers of users, queues and requests alone.

    Parameters
    ----------
    class_bounds
        Ascending run times in seconds, as in a scenario's `metrics.class_bounds`. Jobs below the
        first are in the first class; any other class but the last includes its upper bound.
    """

    def __init__(self, system: System, class_bounds: Sequence[int], calendar: Calendar) -> None:
        self._system, self._calendar = system, calendar
        self._gaps, self._run_times = Histogram(LOGARITHMIC), Histogram(LOGARITHMIC)
        self._units, self._requested = Histogram(LOGARITHMIC), Histogram(LOGARITHMIC)
        self._ratios = Histogram(RATIOS)
        self._first: int | None = None
        self._last: int | None = None
        self._users: Counter[int | None] = Counter()
        self._queues: Counter[int | None] = Counter()
        self._cycles = (Counter[int](), Counter[int](), Counter[int]())  # hour, weekday, month
        self._sums: Counter[str] = Counter()
        self._largest = [bound if k else bound - 1 for k, bound in enumerate(class_bounds)]
        # Jobs, and their run time, by class.
        self._classes = np.zeros((len(class_bounds) + 1, 2), np.int64)
        self._requests: Sequence[Request] = ()
        # Jobs, their run time, and their run time × units, by request.
        self._asked = np.zeros((0, 3), np.int64)

    def add(self, jobs: JobColumns) -> None:
        """Count jobs, by ascending submit time."""
        if not len(jobs.job_id):
            return
        submit, run_time, requested = jobs.submit_time, jobs.run_time, jobs.requested_time
        ones = np.ones_like(submit)
        # The first job has no gap before it: n jobs have n - 1 gaps.
        self._gaps.add(np.diff(submit if self._last is None else np.append(self._last, submit)))
        self._first = int(submit[0]) if self._first is None else self._first
        self._last = int(submit[-1])
        self._run_times.add(run_time)
        self._units.add(jobs.units)
        self._requested.add(requested)
        # A requested time of 0 s, which gives no ratio, counts as 1 s.
        ratio = run_time / np.maximum(requested, 1)
        self._ratios.add(np.where(run_time == requested, 1.0, ratio))
        self._users.update(jobs.details.column("user").to_pylist())
        self._queues.update(jobs.details.column("queue").to_pylist())
        # By the clocks of the log's place, with their changes in summer.
        places = zip(*map(self._calendar.place, submit.tolist()), strict=True)
        for cycle, numbers in zip(self._cycles, places, strict=True):
            cycle.update(numbers)
        sums = {
            "serial": jobs.units == 1,
            "powers": jobs.units & (jobs.units - 1) == 0,
            "error": np.abs(requested - run_time),
            "under": run_time > requested,
            "exact": run_time == requested,
            # Multiplied out, so that the bounds are exact.
            "near": (3 * requested <= 4 * run_time) & (4 * run_time <= 5 * requested),
        }
        self._sums.update({name: int(values.sum()) for name, values in sums.items()})
        classes = np.searchsorted(self._largest, run_time)
        np.add.at(self._classes, classes, np.column_stack((ones, run_time)))
        self._requests = jobs.requests
        new = len(jobs.requests) - len(self._asked)
        self._asked = np.pad(self._asked, ((0, new), (0, 0)))
        amounts = np.column_stack((ones, run_time, run_time * jobs.units))
        np.add.at(self._asked, jobs.request, amounts)

    def result(self) -> TraceStatistics:
        """Return the statistics of the jobs so far."""
        users, sums, jobs = dict(self._users), self._sums, self._users.total()
        without_user = users.pop(None, 0)
        several = share(sum(n > 1 for n in users.values()), len(users))
        queues = {queue: n for queue, n in self._queues.items() if queue is not None}
        first, last = self._first, self._last
        span = None if first is None or last is None else last - first
        days = None if span is None else span / _DAY
        shares = {name: share(count, jobs) for name, count in sums.items()}
        serial, powers, under, exact, near = map(
            shares.get, ("serial", "powers", "under", "exact", "near")
        )
        over = share(jobs - sums["under"] - sums["exact"], jobs)
        error = sums["error"] / jobs / 60 if jobs else None
        cycles = (
            tuple((share(cycle[k], jobs) or 0.0) for k in range(length))
            for cycle, length in zip(self._cycles, (24, 7, 12), strict=True)
        )
        gaps, units = self._gaps.distribution(), self._units.distribution()
        requested, ratio = self._requested.distribution(), self._ratios.distribution()
        without_queue, by_queue = self._queues[None], dict(sorted(queues.items()))
        return TraceStatistics(
            Arrivals(jobs, first, last, span, days, gaps),
            Submitters(len(users), several, without_user, len(queues), by_queue, without_queue),
            self._offered_load(span),
            RunTimes(self._run_times.distribution(), self._run_time_classes()),
            Sizes(units, serial, powers, self._kinds()),
            Accuracy(requested, error, under, exact, over, near, ratio),
            Cycles(self._calendar.basis, self._calendar.known, *cycles),
        )

    def _offered_load(self, span: int | None) -> OfferedLoad:
        totals, unit_seconds = self._system.totals, self._asked[:, 2].tolist()
        areas, demand = [0] * len(totals), []
        for request, seconds in zip(self._requests, unit_seconds, strict=True):
            # Python integers: bytes × seconds of all jobs may pass 2⁶³.
            areas = [a + n * seconds for a, n in zip(areas, request.unit_request, strict=True)]
            asked = zip(request.unit_request, totals, strict=True)
            demand.append(max(n / total if total else 0.0 for n, total in asked) * seconds)
        return OfferedLoad(
            {
                name: 100 * area / (total * span) if total and span else None
                for name, area, total in zip(
                    self._system.resource_types, areas, totals, strict=True
                )
            },
            100 * math.fsum(demand) / span if span else None,
        )

    def _run_time_classes(self) -> tuple[RunTimeClass, ...]:
        starts = [0, *(largest + 1 for largest in self._largest)]
        jobs, run_time = self._classes.sum(axis=0).tolist()
        return tuple(
            RunTimeClass(start, end, count, share(count, jobs), share(seconds, run_time))
            for start, end, count, seconds in zip(
                starts, [*self._largest, None], *self._classes.T.tolist(), strict=True
            )
        )

    def _kinds(self) -> tuple[RequestKind, ...]:
        """Return the kinds of requests, the most frequent first."""
        jobs: Counter[str] = Counter()
        times: Counter[str] = Counter()
        for request, count, seconds, _ in zip(self._requests, *self._asked.T.tolist(), strict=True):
            asked = zip(self._system.resource_types, request.unit_request, strict=True)
            kind = "+".join(sorted(name for name, amount in asked if amount))
            jobs[kind] += count
            times[kind] += seconds
        kinds = [
            RequestKind(kind, count, share(count, jobs.total()), times[kind] / count)
            for kind, count in jobs.items()
        ]
        return tuple(sorted(kinds, key=lambda kind: (-kind.jobs, kind.resources)))


def trace_statistics(
    source: TraceSource, system: System, class_bounds: Sequence[int]
) -> TraceStatistics:
    """Read a trace from its first job to its last and return its statistics.

    Parameters
    ----------
    class_bounds
        Ascending run times, in seconds.
    """
    batches = batches_of(source)
    first = next(batches, NO_JOBS)  # the header has been read then
    started = int(first.submit_time[0]) if len(first.job_id) else 0
    counter = StatisticsCounter(system, class_bounds, calendar_of(source.comments, started))
    for jobs in chain((first,), batches):
        counter.add(jobs)
    return counter.result()
