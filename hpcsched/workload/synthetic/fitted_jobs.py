"""Model of the requests and work of a log's jobs: counted once, and sampled.

Everything is kept in tables of bounded size for logs of any length. Samples:

- a shape, which is a job's request without shared resources, with its frequency in the log;
- its FLOPs, which are run time × units × the sum, over resource types, of amount × performance:
from a histogram of 24 bins a decade for each class of shapes, log-uniformly within a bin;
- its requested time, given the run time, see below;
- a submitter, with the frequency in the log, and more often than by chance the previous one.

These are independent of each other but for the classes. Names are not kept.

For requested times, run times are classed by the bins of `LogHistogram`. A job is near its
requested time, far below it, or above it, with the frequencies in the log. Near it are jobs that
ended at it or were about to: many of them share few run times, so for them the requested time is
drawn, and the run time follows.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.system.system import Request, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.draws import (
    MOST,
    Ascending,
    Counts,
    Draws,
    LogHistogram,
    Weighted,
    bin_of,
)

NEAR = 0.1
"""Slack of jobs near their requested time, at most this share of it: the width of a bin."""
COMMON = 0.001
"""Share of jobs from which on a requested time is a common one."""
MOSTLY = 0.8
"""Share of jobs with a common requested time from which on new ones are common too."""


class RequestedTimeCounter:
    """Frequencies of requested times by class of run times."""

    def __init__(self) -> None:
        self.classes: dict[int, _Tally] = {}
        self.times: Counts[int] = Counts()
        self.jobs = 0

    def add(self, run_time: int, requested_time: int) -> None:
        """Count a job.

        Parameters
        ----------
        run_time
            Its run time in seconds.
        requested_time
            Its requested time in seconds.
        """
        self.jobs += 1
        self.times.add(requested_time)
        self.classes.setdefault(bin_of(run_time), _Tally()).add(run_time, requested_time)

    def common(self) -> list[int]:
        """Return the common requested times, ascending; none if they cover too few jobs."""
        counts = self.times.counts
        common = sorted(time for time, n in counts.items() if n >= COMMON * self.jobs)
        covered = sum(counts[time] for time in common)
        return common if covered >= MOSTLY * self.jobs else []


class _Tally:
    def __init__(self) -> None:
        self.near: Counts[int] = Counts()
        self.slacks = LogHistogram()
        self.far: Counts[int] = Counts()
        self.above: Counts[int] = Counts()

    def add(self, run_time: int, requested_time: int) -> None:
        slack = requested_time - run_time
        if slack < 0:
            self.above.add(requested_time)
        elif slack > NEAR * requested_time:
            self.far.add(requested_time)
        elif self.near.add(requested_time):
            self.slacks.add(slack / requested_time if slack else 0.0)


class RequestedTimes:
    """Distribution of requested times, fitted to a tally of at least one job."""

    def __init__(self, tally: RequestedTimeCounter) -> None:
        self._bins = sorted(tally.classes)
        self._classes = [_Class(tally.classes[k]) for k in self._bins]
        self._common = tally.common()

    def draw(self, draws: Draws, run_time: int) -> tuple[int, int]:
        """Draw the requested time of a job.

        Parameters
        ----------
        run_time
            Run time in seconds.
        """
        k = bisect_left(self._bins, bin_of(run_time))
        return self._classes[min(k, len(self._classes) - 1)].draw(draws, run_time)

    def common(self, requested_time: int, least: int) -> int:
        """Return the nearest common requested time, or the time itself without one.

        Parameters
        ----------
        requested_time
            Seconds.
        least
            Smallest result among the common ones, in seconds.
        """
        k = bisect_left(self._common, requested_time)
        near = [time for time in self._common[max(k - 1, 0) : k + 1] if time >= least]
        return min(near, key=lambda time: abs(time - requested_time), default=requested_time)


class _Class:
    def __init__(self, tally: _Tally) -> None:
        self._near = Ascending(tally.near.counts)
        self._slacks = tally.slacks.resampled() if self._near.total else None
        self._far, self._above = Ascending(tally.far.counts), Ascending(tally.above.counts)

    def draw(self, draws: Draws, run_time: int) -> tuple[int, int]:
        """Draw run time and requested time; always takes four uniform numbers."""
        near, far, above = self._near.total, self._far.total, self._above.total
        point, place = draws.uniform() * (near + far + above), draws.uniform()
        if self._slacks is not None and point < near:
            requested_time = self._near.at(place) or run_time
            slack = self._slacks.draw(draws)
            return int(requested_time * (1 - slack) + 0.5), requested_time
        # Unused draws, so that every job takes four numbers in each branch.
        draws.uniform(), draws.uniform()
        if point < near + far:
            least = int(run_time / (1 - NEAR)) + 1
            return run_time, self._far.at(place, least=least) or least
        return run_time, self._above.at(place, most=run_time - 1) or run_time


class Submitter(NamedTuple):
    """Submitter and destination of a job, in the fields of `Job` of these names."""

    user: int | None
    group: int | None
    application: int | None
    queue: int | None
    partition: int | None


class Performance:
    """Speed of a machine."""

    def __init__(self, system: System, performance: Mapping[str, float]) -> None:
        self._system = system
        self._performance = performance
        self._known: dict[tuple[int, ...], float] = {}

    def of_unit(self, unit_request: tuple[int, ...]) -> float:
        """Return the FLOP/s of a unit; 0 if its request computes nothing."""
        known = self._known.get(unit_request)
        if known is None:
            known = 0.0
            for name, amount in self._system.declared(unit_request).items():
                known += amount * self._performance.get(name, 0.0)
            # Bounded cache: a log may have as many unit requests as jobs.
            if len(self._known) < MOST:
                self._known[unit_request] = known
        return known


_SizeClass = tuple[int, ...]
"""See `_size_class`."""


class JobCounter:
    """Frequencies of the properties of a log's jobs, added by submit time."""

    def __init__(self, performance: Performance, *, uniform: bool = False) -> None:
        self.performance = performance
        self._uniform = uniform
        self.jobs = self.repeats = 0
        self.shapes: Counts[Request] = Counts()
        self.rounded: Counts[Request] = Counts()
        self.flops: dict[_SizeClass, LogHistogram] = {}
        self.requested_times = RequestedTimeCounter()
        self.submitters: Counts[Submitter] = Counts()
        self._last: Submitter | None = None

    def add(self, traced: TracedJob) -> None:
        """Count a job.

        A shape without room in the table is rounded; a rounded one without room is left out.
        """
        job, run_time = traced
        self.jobs += 1
        shape = job.request._replace(shared_requests=())
        if not self.shapes.add(shape):
            shape = _rounded(shape, keeps_request=self._uniform)
            if not self.rounded.add(shape):
                return
        size = _size_class(shape)
        flops = run_time * _flop_rate(shape, self.performance)
        self.flops.setdefault(size, LogHistogram()).add(flops)
        self.requested_times.add(run_time, job.requested_time)
        submitter = Submitter(job.user, job.group, job.application, job.queue, job.partition)
        self.submitters.add(submitter)
        self.repeats += submitter == self._last
        self._last = submitter


def _rounded(shape: Request, *, keeps_request: bool) -> Request:
    """Return a request without restrictions, with numbers cut to powers of two."""
    request = shape.unit_request
    return Request(_cut(shape.units), request if keeps_request else tuple(map(_cut, request)))


def _flop_rate(shape: Request, performance: Performance) -> float:
    """Return the FLOP/s of a job; one FLOP/s a unit if it asks for nothing that computes."""
    return shape.units * (performance.of_unit(shape.unit_request) or 1.0)


def _size_class(shape: Request) -> _SizeClass:
    """Return the class of a shape, for its distribution of FLOPs.

    Units are classed as 1, 2, 3 to 4, 5 to 8 and so on, and the amounts of a unit by powers of two,
    resource type by resource type.
    """
    return (shape.units - 1).bit_length(), *(amount.bit_length() for amount in shape.unit_request)


class FittedJobs:
    """Distributions of jobs fitted to a tally of at least one job."""

    def __init__(self, tally: JobCounter) -> None:
        self._performance = tally.performance
        counts = [*tally.shapes.counts.items(), *tally.rounded.counts.items()]
        self._shapes = Weighted([shape for shape, _ in counts], [count for _, count in counts])
        self._flops = {size: flops.resampled() for size, flops in tally.flops.items()}
        self._submitters = tally.submitters.weighted()
        self._repeated = _beyond_chance(tally)
        self.requested_times = RequestedTimes(tally.requested_times)

    def shape(self, draws: Draws) -> Request:
        """Draw the request of a job."""
        return self._shapes.draw(draws)

    def times(self, draws: Draws, shape: Request) -> tuple[int, int]:
        """Draw the run time and the requested time of a job on the log's machine, in seconds."""
        flops = self._flops[_size_class(shape)].draw(draws)
        run_time = in_seconds(flops / _flop_rate(shape, self._performance))
        return self.requested_times.draw(draws, run_time)

    def submitter(self, draws: Draws, last: Submitter | None) -> Submitter:
        """Draw the submitter of the next job.

        Parameters
        ----------
        last
            Submitter of the previous job; None for the first.
        """
        again = draws.chance(self._repeated)
        return last if again and last is not None else self._submitters.draw(draws)


def in_seconds(time: float) -> int:
    """Return a time rounded to whole seconds, at least 1 unless it is 0."""
    return max(int(min(time, LARGEST) + 0.5), 1) if time else 0


def _cut(amount: int) -> int:
    return 1 << amount.bit_length() - 1 if amount else 0


def _beyond_chance(tally: JobCounter) -> float:
    """Return the probability of a repeated submitter beyond the one from their activity."""
    counts = tally.submitters.counts.values()
    chance = sum(count * count for count in counts) / sum(counts) ** 2
    if tally.jobs < 2 or chance >= 1:
        return 0.0
    return max(0.0, (tally.repeats / (tally.jobs - 1) - chance) / (1 - chance))
