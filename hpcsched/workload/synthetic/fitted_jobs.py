"""Model of the requests and work of a log's jobs: counted once, and sampled.

Everything is kept in tables of bounded size for logs of any length. Samples:

- a shape, which is a job's request without shared resources, with its frequency in the log;
- its FLOPs, which are run time × units × the sum, over resource types, of amount × performance:
from a histogram of 24 bins a decade for each class of shapes, log-uniformly within a bin;
- its requested time, given the run time: see `requested_times`;
- a submitter, with the frequency in the log, and more often than by chance the previous one.

These are independent of each other but for the classes. Names are not kept.
"""

from collections.abc import Mapping
from typing import NamedTuple

from hpcsched.parameters import LARGEST
from hpcsched.system.request import Request
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.synthetic.counts import MOST, Counts
from hpcsched.workload.synthetic.draws import Draws, Weighted
from hpcsched.workload.synthetic.log_histogram import LogHistogram
from hpcsched.workload.synthetic.requested_times import RequestedTimeCounter, RequestedTimes


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
