"""What a trace is like: figures of all its jobs, from one pass that keeps none of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.statistics.histogram import kolmogorov_smirnov, total_variation
from hpcsched.workload.statistics.request_statistics import (
    Accuracy,
    AccuracyTally,
    LoadTally,
    OfferedLoad,
    RunTimes,
    RunTimeTally,
    Sizes,
    SizeTally,
)
from hpcsched.workload.statistics.submission_statistics import (
    Arrivals,
    ArrivalTally,
    Cycles,
    CycleTally,
    Submitters,
    SubmitterTally,
)
from hpcsched.workload.trace_calendar import Calendar, calendar_of
from hpcsched.workload.trace_source import TraceSource


@dataclass(frozen=True, slots=True)
class CensusResult:
    """The figures of a trace, a part for each thing that is counted."""

    arrivals: Arrivals
    submitters: Submitters
    offered_load: OfferedLoad
    run_times: RunTimes
    sizes: Sizes
    accuracy: Accuracy
    cycles: Cycles


@dataclass(frozen=True, slots=True)
class Distance:
    """How far two traces are apart, each from 0 (alike) to 1; None where one has no values.

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


class Census:
    """Counts jobs by ascending submit time; its size does not depend on their number.

    `class_bounds` are ascending run times in seconds, as in a scenario's `metrics.class_bounds`.
    """

    def __init__(self, system: System, class_bounds: Sequence[int], calendar: Calendar) -> None:
        self._arrivals = ArrivalTally()
        self._submitters = SubmitterTally()
        self._load = LoadTally(system)
        self._run_times = RunTimeTally(class_bounds)
        self._sizes = SizeTally(system)
        self._accuracy = AccuracyTally()
        self._cycles = CycleTally(calendar)

    def add(self, traced: TracedJob) -> None:
        """Count a job in every part."""
        self._arrivals.add(traced)
        self._submitters.add(traced)
        self._load.add(traced)
        self._run_times.add(traced)
        self._sizes.add(traced)
        self._accuracy.add(traced)
        self._cycles.add(traced)

    def result(self) -> CensusResult:
        """Return the figures of the jobs so far."""
        arrivals = self._arrivals.result()
        return CensusResult(
            arrivals,
            self._submitters.result(),
            self._load.result(arrivals.span_seconds),
            self._run_times.result(),
            self._sizes.result(),
            self._accuracy.result(),
            self._cycles.result(),
        )


def take_census(source: TraceSource, system: System, class_bounds: Sequence[int]) -> CensusResult:
    """Read a trace from its first job to its last and return its figures.

    Raises InputError where the trace cannot be used.
    """
    jobs = source.jobs()
    first = next(jobs, None)  # the header has been read then
    started = 0 if first is None else first.job.submit_time
    census = Census(system, class_bounds, calendar_of(source.comments, started))
    for traced in chain([] if first is None else [first], jobs):
        census.add(traced)
    return census.result()


def distance(one: CensusResult, other: CensusResult) -> Distance:
    """Return how far two traces are apart."""
    return Distance(
        total_variation(one.cycles.hour_shares, other.cycles.hour_shares),
        total_variation(one.cycles.weekday_shares, other.cycles.weekday_shares),
        total_variation(one.cycles.month_shares, other.cycles.month_shares),
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
