"""Queue orders: the order in which a dispatcher considers the queued jobs.

Sorts are stable and start from the order of arrival, which therefore breaks every remaining tie.
Times are predicted run times, or expected ones where an order says so; `area` is demand × time
(Goponenko et al., DEBS 2024, sections 2.4, 3.2 and 5.2).
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, Self

import numpy as np

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.rule_params import (
    ExpectedWaitParams,
    RunTimeOrderParams,
    ShortestJobParams,
    SlowdownParams,
)
from hpcsched.errors import PluginError
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.portable_math import log, of_each, power
from hpcsched.registration import Context, builtin
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import WaitClass


class QueueOrder(Protocol):
    """Protocol of an order of the queue."""

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queued jobs, each once, the first to be considered first.

        Another result ends the run.
        """


@builtin("queue_order", "fcfs")
class ArrivalOrder:
    """Queue order: first come, first served."""

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue unchanged."""
        return problem.queue


def sorted_queue(order: QueueOrder, problem: DispatchingProblem) -> Sequence[WaitingJob]:
    """Return the queue in an order, after a check of the orders of third parties."""
    queue = order.sort(problem)
    if is_third_party(order):
        fault = order_fault(problem, queue)
        if fault is not None:
            raise PluginError(f"{named('queue_order', order)}: {fault}")
    return queue


def order_fault(problem: DispatchingProblem, queue: object) -> str | None:
    """Return why a result of `QueueOrder.sort` is no permutation of the queue; None if it is."""
    if not isinstance(queue, Sequence) or isinstance(queue, str):
        return f"expected a sequence of the queued jobs, found {queue!r}"
    strange = next((job for job in queue if not isinstance(job, WaitingJob)), None)
    if strange is not None:
        return f"expected the jobs of the queue, found {strange!r} among them"
    known = {job.job_id: job for job in problem.queue}
    changed = next((job for job in queue if known.get(job.job_id, job) != job), None)
    if changed is not None:
        return f"expected the jobs of the queue as they are, found job {changed.job_id} changed"
    expected, found = Counter(j.job_id for j in problem.queue), Counter(j.job_id for j in queue)
    wrong = next(iter((expected - found) + (found - expected)), None)
    if wrong is None:
        return None
    return f"expected each queued job once, found job {wrong} {found[wrong]} times"


class WaitOver:
    """Order by wait time over a divisor, an integer of at least 1, the largest ratio first."""

    def __init__(self, divisor: Callable[[Any], Any], *, then_area: bool = False) -> None:
        self.divisor = divisor
        self.then_area = then_area

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by (now − submit time) / divisor, descending."""
        now, divisor = problem.now, self.divisor

        # Negated wait, so that an ascending sort has the largest ratio first.
        def by_ratio(job: WaitingJob) -> tuple[float, int]:
            area = job.area if self.then_area else 0
            return (job.submit_time - now) / divisor(job), area

        return sorted(problem.queue, key=by_ratio)


def slowdown_order(*, then_area: bool = False) -> WaitOver:
    """Return the order by the slowdown that a start now would give, the largest first.

    It is the priority of the CP dispatchers (Galleguillos et al., CP 2021, section 2.2), whose tie
    breaker is the area (Galleguillos, thesis 2020, section 2.3): jobs that have just been submitted
    all have the slowdown 1. Elsewhere it is known as the largest expansion factor (LXF).
    """
    return WaitOver(run_time, then_area=then_area)


class KeyOrder:
    """Order by a key of a waiting job, ascending."""

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.key = key

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue sorted by the key, ties in order of arrival."""
        return sorted(problem.queue, key=self.key)


class ColumnKeyOrder(KeyOrder):
    """Order by a key of integers that may be computed for all jobs at once, as the core does.

    Attributes
    ----------
    key
        Key of `submit_time`, `predicted_run_time`, `demand` and `area`, of one job or of columns.
    powers
        Of an order by expected run times in place of predicted ones, the power of the run time in
        each number of the key; empty for all others.
    """

    def __init__(self, key: Callable[[Any], Any], powers: Sequence[int] = ()) -> None:
        super().__init__(self._by_expected if powers else key)
        self.column_key, self.powers = key, powers

    def _by_expected(self, job: WaitingJob) -> Any:
        return self.column_key(job._replace(predicted_run_time=job.expected_run_time))


def run_time(job: WaitingJob) -> int:
    """Return the predicted run time of a job, in seconds."""
    return job.predicted_run_time


KEYS: Mapping[str, Callable[[Any], Any]] = {
    "sjf": lambda job: (job.predicted_run_time, job.demand),
    "ljf": lambda job: (-job.predicted_run_time, -job.demand),
    "saf": lambda job: job.area,
    "laf": lambda job: -job.area,
    "spf": lambda job: (job.area * job.predicted_run_time, job.area, job.submit_time),
}
"""Sort keys by name of the order; areas are demand × predicted run time."""

_POWERS = {"sjf": (1, 0), "ljf": (1, 0), "saf": (1,), "laf": (1,), "spf": (2, 1, 0)}
"""Powers of the run time in the numbers of the sort keys."""


@builtin("queue_order", "slowdown", SlowdownParams)
def make_slowdown(params: SlowdownParams, _context: Context) -> WaitOver:
    """Return a queue order: largest slowdown first, if it started now."""
    return slowdown_order(then_area=params.ties == "area")


@builtin("queue_order", "sjf", ShortestJobParams)
def make_shortest_job(params: ShortestJobParams, _context: Context) -> ColumnKeyOrder:
    """Return a queue order: shortest job first."""
    if params.ties == "demand":
        return make_key_order(params, _context)
    return ColumnKeyOrder(run_time, (1,) if params.run_times == "expected" else ())


@builtin("queue_order", "ljf", RunTimeOrderParams, summary="longest job first")
@builtin("queue_order", "saf", RunTimeOrderParams, summary="smallest area first")
@builtin("queue_order", "laf", RunTimeOrderParams, summary="largest area first")
@builtin("queue_order", "spf", RunTimeOrderParams, summary="smallest area × run time first")
def make_key_order(params: Any, _context: Context) -> ColumnKeyOrder:
    """Create the queue order of the name that is chosen."""
    name = params.plugin_name
    return ColumnKeyOrder(KEYS[name], _POWERS[name] if params.run_times == "expected" else ())


_STEPS = 2**20
"""Resolution of the divisors of wait times: they are rounded to 2⁻²⁰ and scaled to integers."""


def _log10(x: Any) -> Any:
    return of_each(lambda one: log(one) / log(10.0), x)


_FITTED: Mapping[str, tuple[Callable[[Any, Any], Any], float]] = {
    "f1": (lambda run_time, processors: _log10(run_time) * processors, 870),
    "f2": (lambda run_time, processors: np.sqrt(run_time) * processors, 2.56e4),
    "f3": (lambda run_time, processors: run_time * processors, 6.86e6),
    "f4": (lambda run_time, processors: run_time * np.sqrt(processors), 5.3e5),
}
"""Size of a job, and weight of log₁₀(submit time), whose sum is the key.

They were fitted to schedules of small sets of jobs by Carastan-Santos and de Camargo, *Obtaining
dynamic scheduling policies with simulation and machine learning*, SC 2017, table 3. Submit times
are seconds since the trace's own second 0, and at least 1.
"""


def sized_order(name: str, system: System) -> QueueOrder:
    """Return one of the orders by processors and run time: `wfp3`, `unicef`, `f1` to `f4`.

    `wfp3` favours large jobs and those that have waited long in relation to their run time,
    `unicef` small jobs; those of one processor come before all others once they have waited.
    Source: Tang, Lan, Desai, Buettner, *Fault-aware, utility-based job scheduling on Blue Gene/P
    systems*, 2009.
    """
    first = next(total for total in system.totals if total)

    def sizes(job: Any) -> tuple[Any, Any]:
        """Return run time and processors as real numbers."""
        run_time = np.asarray(job.predicted_run_time, dtype=np.float64)
        return run_time, np.asarray(job.demand, dtype=np.float64) * (first / system.full_demand)

    def divisor(job: Any) -> Any:
        run_time, processors = sizes(job)
        if name == "unicef":
            value = run_time * of_each(lambda one: log(one) / log(2.0), processors)
        else:
            # Cube roots have the same order: wait × ∛processors / run time.
            value = run_time / of_each(lambda one: power(one, 1 / 3), processors)
        return np.maximum(np.rint(value * _STEPS), 1).astype(np.int64)[()]

    def key(job: Any) -> Any:
        size, weight = _FITTED[name]
        submit_time = np.asarray(job.submit_time, dtype=np.float64)
        value = size(*sizes(job)) + weight * _log10(np.maximum(submit_time, 1))
        # Numbers from 0 on are ordered as the integers that have the same bits.
        return np.asarray(value, dtype=np.float64).view(np.int64)[()]

    return ColumnKeyOrder(key) if name in _FITTED else WaitOver(divisor)


@builtin("queue_order", "wfp3", summary="largest (wait / run time)³ × processors first")
@builtin("queue_order", "unicef", summary="largest wait / (run time × log₂ processors) first")
@builtin(
    "queue_order", "f1", summary="smallest log₁₀(run time) × processors + 870 × log₁₀(submit time)"
)
@builtin(
    "queue_order", "f2", summary="smallest √(run time) × processors + 25600 × log₁₀(submit time)"
)
@builtin(
    "queue_order", "f3", summary="smallest run time × processors + 6.86e6 × log₁₀(submit time)"
)
@builtin(
    "queue_order", "f4", summary="smallest run time × √processors + 5.3e5 × log₁₀(submit time)"
)
def make_sized_order(params: Any, context: Context) -> QueueOrder:
    """Create the queue order of the name that is chosen for the scenario's system."""
    return sized_order(params.plugin_name, context.system)


@builtin("queue_order", "expected-wait", ExpectedWaitParams, aliases=("expected_wait",))
@dataclass(frozen=True)
class ExpectedWaitOrder:
    """Queue order: largest wait time over the wait that is expected in its queue first.

    The expected wait of a class of jobs is the papers' ewt of a queue. Sources: Galleguillos et
    al., Data-driven job dispatching in HPC systems, MOD 2017, section 4; Galleguillos, thesis 2020,
    section 2.3.

    Attributes
    ----------
    other
        Expected wait of jobs in no listed class, in seconds.
    waits
        Expected wait, in seconds, by number of the queue or partition, or by the smallest size of a
        class of sizes.
    """

    other: int
    waits: Mapping[int, int] = field(default_factory=dict)
    by: WaitClass = WaitClass.QUEUE

    @classmethod
    def build(cls, params: ExpectedWaitParams, _context: Context) -> Self:
        """Create the order from its parameters."""
        return cls(params.other, params.waits, params.by)

    def of(self, jobs: Sequence[WaitingJob]) -> IntArray:
        """Return the expected waits of jobs, `[J]`, in seconds."""
        numbers = [self.by.number(job.job) for job in jobs]
        return self.of_numbers(np.array(numbers, dtype=np.int64))

    def of_numbers(self, numbers: IntArray) -> IntArray:
        """Return the expected waits of jobs, in seconds, `[J]`, by the numbers of their classes."""
        if self.by is WaitClass.UNITS:
            # 0 stands for sizes below the smallest class, which have the wait `other`.
            bounds = np.array([0, *sorted(self.waits)], dtype=np.int64)
            numbers = bounds[np.searchsorted(bounds, numbers, side="right") - 1]
        # Few classes and many jobs: each class is looked up once.
        unlike, place = np.unique(numbers, return_inverse=True)
        waits = [self.waits.get(number, self.other) for number in unlike.tolist()]
        return np.array(waits, dtype=np.int64)[place]

    @property
    def largest(self) -> int:
        """Largest expected wait of all classes, in seconds."""
        return max([self.other, *self.waits.values()])

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue by (t − qᵢ) / ewtᵢ, the largest first.

        Ties go to the smallest area: demand × predicted run time.
        """
        expected = self.of(problem.queue).tolist()
        # Negated wait, so that an ascending sort has the largest ratio first.
        keys = {
            job.job_id: ((job.submit_time - problem.now) / wait, job.area)
            for job, wait in zip(problem.queue, expected, strict=True)
        }
        return sorted(problem.queue, key=lambda job: keys[job.job_id])
