"""Queue orders: the order in which a dispatcher considers the queued jobs.

Sorts are stable and start from the order of arrival, which therefore breaks every remaining tie.
Times are predicted run times, `area` is demand × time (Goponenko et al., DEBS 2024, sections 2.4,
3.2 and 5.2).
"""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hpcsched.context import Context
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.rule_params import ShortestJobParams, SlowdownParams
from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.registration import builtin


class QueueOrder(Protocol):
    """Protocol of an order of the queue."""

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queued jobs, each once, the first to be considered first.

        Returns
        -------
        Sequence[WaitingJob]
            Permutation of the problem's queue, `[J]`; another result ends the run.
        """


@builtin("queue_order", "fcfs", summary="first come, first served")
class ArrivalOrder:
    """Order of arrival: first come, first served (FCFS)."""

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue unchanged."""
        return problem.queue


def sorted_queue(order: QueueOrder, problem: DispatchingProblem) -> Sequence[WaitingJob]:
    """Return the queue in an order; that of a third party's plugin is checked.

    Raises
    ------
    PluginError
        If the order of a third party is no permutation of the queue.
    """
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
    """Order by wait time over a divisor, the largest ratio first.

    Parameters
    ----------
    divisor
        Function that returns the divisor of a job's wait, an integer of at least 1.
    """

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
    """Order by a key, ascending."""

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self.key = key

    def sort(self, problem: DispatchingProblem) -> Sequence[WaitingJob]:
        """Return the queue sorted by the key, ties in order of arrival."""
        return sorted(problem.queue, key=self.key)


def run_time(job: WaitingJob) -> int:
    """Return the predicted run time of a job, in seconds."""
    return job.predicted_run_time


def shortest_job(job: WaitingJob) -> tuple[int, int]:
    """Return the key of SJF: run time, then demand."""
    return job.predicted_run_time, job.demand


def longest_job(job: WaitingJob) -> tuple[int, int]:
    """Return the key of LJF: run time, then demand, the largest first."""
    return -job.predicted_run_time, -job.demand


def smallest_area(job: WaitingJob) -> int:
    """Return the key of SAF: area."""
    return job.area


def largest_area(job: WaitingJob) -> int:
    """Return the key of LAF: area, the largest first."""
    return -job.area


def smallest_product(job: WaitingJob) -> tuple[int, int, int]:
    """Return the key of SPF: area × run time, then area, then submit time.

    Returns
    -------
    tuple[int, int, int]
        Integers of unlimited size, so that equal products compare equal on every machine.
    """
    area = job.area
    return area * job.predicted_run_time, area, job.submit_time


@builtin(
    "queue_order", "slowdown", SlowdownParams, summary="largest slowdown first, if it started now"
)
def make_slowdown(params: SlowdownParams, _context: Context) -> WaitOver:
    """Create the queue order `slowdown`."""
    return slowdown_order(then_area=params.ties == "area")


@builtin("queue_order", "sjf", ShortestJobParams, summary="shortest job first")
def make_shortest_job(params: ShortestJobParams, _context: Context) -> KeyOrder:
    """Create the queue order `sjf`."""
    return KeyOrder(shortest_job if params.ties == "demand" else run_time)


@builtin("queue_order", "ljf", summary="longest job first")
def make_longest_job(_params: Params, _context: Context) -> KeyOrder:
    """Create the queue order `ljf`."""
    return KeyOrder(longest_job)


@builtin("queue_order", "saf", summary="smallest area first")
def make_smallest_area(_params: Params, _context: Context) -> KeyOrder:
    """Create the queue order `saf`."""
    return KeyOrder(smallest_area)


@builtin("queue_order", "laf", summary="largest area first")
def make_largest_area(_params: Params, _context: Context) -> KeyOrder:
    """Create the queue order `laf`."""
    return KeyOrder(largest_area)


@builtin("queue_order", "spf", summary="smallest area × run time first")
def make_smallest_product(_params: Params, _context: Context) -> KeyOrder:
    """Create the queue order `spf`."""
    return KeyOrder(smallest_product)
