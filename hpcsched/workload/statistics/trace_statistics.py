"""Statistics of a trace, from one pass that keeps no jobs."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
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
    """Counts and sums of values by bin.

    Parameters
    ----------
    edges
        Lower edges of the bins, ascending.
    """

    def __init__(self, edges: Sequence[float]) -> None:
        self._edges = edges
        self._counts = [0] * len(edges)
        self._sums: list[float] = [0] * len(edges)
        self._max: float | None = None

    def add(self, value: float) -> None:
        """Count a value, which must not be below the first edge."""
        # A value on an edge belongs to the bin that begins there.
        k = bisect_right(self._edges, value) - 1
        self._counts[k] += 1
        self._sums[k] += value
        if self._max is None or value > self._max:
            self._max = value

    def distribution(self) -> Distribution:
        """Return the summary of the values so far."""
        count = sum(self._counts)
        counted = zip(self._edges, self._counts, strict=True)
        return Distribution(
            count,
            sum(self._sums) / count if count else None,
            self._quantile(25, count),
            self._quantile(50, count),
            self._quantile(75, count),
            self._quantile(90, count),
            self._quantile(99, count),
            self._max,
            tuple((edge, number) for edge, number in counted if number),
        )

    def _quantile(self, percent: int, count: int) -> float | None:
        """Return the mean of the bin with this percentile by nearest rank."""
        if not count:
            return None
        # Nearest rank by whole numbers; a float product could be just above a multiple.
        rank = -(-percent * count // 100)
        k = next(k for k, upto in enumerate(accumulate(self._counts)) if upto >= rank)
        return self._sums[k] / self._counts[k]


def share(part: float, whole: float) -> float | None:
    """Return a part of a whole, from 0 to 1; None if the whole is 0."""
    return part / whole if whole else None


def kolmogorov_smirnov(one: Distribution, other: Distribution) -> float | None:
    """Return the Kolmogorov-Smirnov distance: the largest difference of two cumulative shares.

    Returns
    -------
    float or None
        From 0 to 1; None if a distribution has no values.
    """
    if not one.count or not other.count:
        return None
    ones, others = dict(one.bins), dict(other.bins)
    furthest = gap = 0
    for edge in sorted(ones.keys() | others.keys()):
        # Whole numbers, so that equal shares differ by exactly nothing.
        gap += ones.get(edge, 0) * other.count - others.get(edge, 0) * one.count
        furthest = max(furthest, abs(gap))
    return furthest / (one.count * other.count)


def total_variation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Return the total variation distance of two vectors of shares: half the sum of differences.

    Parameters
    ----------
    one
        Shares that add up to 1, or zeros.
    other
        Shares of the same classes.

    Returns
    -------
    float or None
        From 0 to 1; None if a vector is zero.
    """
    if not any(one) or not any(other):
        return None
    return sum(abs(a - b) for a, b in zip(one, other, strict=True)) / 2


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


class ArrivalCounter:
    """Counter of jobs and of the times between them."""

    def __init__(self) -> None:
        self._jobs = 0
        self._first: int | None = None
        self._last: int | None = None
        self._gaps = Histogram(LOGARITHMIC)

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        submit_time = traced.job.submit_time
        # The first job has no gap before it: n jobs have n - 1 gaps.
        if self._last is None:
            self._first = submit_time
        else:
            self._gaps.add(submit_time - self._last)
        self._last = submit_time
        self._jobs += 1

    def result(self) -> Arrivals:
        """Return the statistics of the jobs so far."""
        first, last = self._first, self._last
        span = None if first is None or last is None else last - first
        days = None if span is None else span / _DAY
        return Arrivals(self._jobs, first, last, span, days, self._gaps.distribution())


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


class SubmitterCounter:
    """Counter of users and queues: the only state that grows, with their number."""

    def __init__(self) -> None:
        self._users: dict[int | None, bool] = {}
        self._queues: Counter[int | None] = Counter()
        self._userless = 0

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        job = traced.job
        if job.user is None:
            self._userless += 1
        else:
            # True from the second job on: a count of each user's jobs is not needed.
            self._users[job.user] = job.user in self._users
        self._queues[job.queue] += 1

    def result(self) -> Submitters:
        """Return the statistics of the jobs so far."""
        several = sum(self._users.values())
        by_queue = {queue: n for queue, n in self._queues.items() if queue is not None}
        return Submitters(
            len(self._users),
            share(several, len(self._users)),
            self._userless,
            len(by_queue),
            dict(sorted(by_queue.items())),
            self._queues[None],
        )


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


class CycleCounter:
    """Counter of jobs by hour, weekday and month of their submission."""

    def __init__(self, calendar: Calendar) -> None:
        self._calendar = calendar
        self._hours, self._weekdays, self._months = [0] * 24, [0] * 7, [0] * 12

    def add(self, traced: TracedJob) -> None:
        """Count a job."""
        # By the clocks of the log's place, with their changes in summer.
        hour, weekday, month = self._calendar.place(traced.job.submit_time)
        self._hours[hour] += 1
        self._weekdays[weekday] += 1
        self._months[month] += 1

    def result(self) -> Cycles:
        """Return the statistics of the jobs so far."""
        counts = (self._hours, self._weekdays, self._months)
        return Cycles(
            self._calendar.basis,
            self._calendar.known,
            *(tuple((share(n, sum(count)) or 0.0) for n in count) for count in counts),
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


@dataclass(frozen=True, slots=True)
class Distance:
    """Distances of two traces, each from 0 (equal) to 1; None if one has no values, or no date.

    Total variation of the shares of jobs by hour, weekday and month; Kolmogorov-Smirnov over the
    histograms of the others; accuracy is run time / requested time.
    """

    hour: float | None
    weekday: float | None
    month: float | None
    units: float | None
    run_time: float | None
    requested_time: float | None
    interarrival_time: float | None
    accuracy: float | None


class StatisticsCounter:
    """Counter of all statistics, in memory that does not depend on the number of jobs.

    Parameters
    ----------
    class_bounds
        Ascending run times in seconds, as in a scenario's `metrics.class_bounds`.
    """

    def __init__(self, system: System, class_bounds: Sequence[int], calendar: Calendar) -> None:
        self._arrivals = ArrivalCounter()
        self._submitters = SubmitterCounter()
        self._load = LoadCounter(system)
        self._run_times = RunTimeCounter(class_bounds)
        self._sizes = SizeCounter(system)
        self._accuracy = AccuracyCounter()
        self._cycles = CycleCounter(calendar)

    def add(self, traced: TracedJob) -> None:
        """Count a job; submit times must ascend."""
        self._arrivals.add(traced)
        self._submitters.add(traced)
        self._load.add(traced)
        self._run_times.add(traced)
        self._sizes.add(traced)
        self._accuracy.add(traced)
        self._cycles.add(traced)

    def result(self) -> TraceStatistics:
        """Return the statistics of the jobs so far."""
        arrivals = self._arrivals.result()
        return TraceStatistics(
            arrivals,
            self._submitters.result(),
            self._load.result(arrivals.span_seconds),
            self._run_times.result(),
            self._sizes.result(),
            self._accuracy.result(),
            self._cycles.result(),
        )


def trace_statistics(
    source: TraceSource, system: System, class_bounds: Sequence[int]
) -> TraceStatistics:
    """Read a trace from its first job to its last and return its statistics.

    Parameters
    ----------
    class_bounds
        Ascending run times, in seconds.
    """
    jobs = source.jobs()
    first = next(jobs, None)  # the header has been read then
    started = 0 if first is None else first.job.submit_time
    counter = StatisticsCounter(system, class_bounds, calendar_of(source.comments, started))
    for traced in chain([] if first is None else [first], jobs):
        counter.add(traced)
    return counter.result()


def distance(one: TraceStatistics, other: TraceStatistics) -> Distance:
    """Return the distances of two traces."""
    dated = one.cycles.dated and other.cycles.dated
    return Distance(
        total_variation(one.cycles.hour_shares, other.cycles.hour_shares),
        total_variation(one.cycles.weekday_shares, other.cycles.weekday_shares),
        total_variation(one.cycles.month_shares, other.cycles.month_shares) if dated else None,
        kolmogorov_smirnov(one.sizes.units, other.sizes.units),
        kolmogorov_smirnov(one.run_times.run_time_seconds, other.run_times.run_time_seconds),
        kolmogorov_smirnov(
            one.accuracy.requested_time_seconds, other.accuracy.requested_time_seconds
        ),
        kolmogorov_smirnov(
            one.arrivals.interarrival_time_seconds, other.arrivals.interarrival_time_seconds
        ),
        kolmogorov_smirnov(one.accuracy.ratio, other.accuracy.ratio),
    )
