"""Statistics of a trace, from one pass that keeps no jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.statistics.histogram import kolmogorov_smirnov, total_variation
from hpcsched.workload.statistics.request_statistics import (
    Accuracy,
    AccuracyCounter,
    LoadCounter,
    OfferedLoad,
    RunTimeCounter,
    RunTimes,
    SizeCounter,
    Sizes,
)
from hpcsched.workload.statistics.submission_statistics import (
    ArrivalCounter,
    Arrivals,
    CycleCounter,
    Cycles,
    SubmitterCounter,
    Submitters,
)
from hpcsched.workload.trace_calendar import Calendar, calendar_of
from hpcsched.workload.trace_source import TraceSource


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

    Raises
    ------
    InputError
        If the trace cannot be used.
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
