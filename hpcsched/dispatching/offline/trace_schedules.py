"""Schedules of a whole trace: initial ones in several orders, and large neighbourhood search."""

from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import FreeResources, plan_in_order, replay_list, search_neighbourhoods
from hpcsched.dispatching.offline.offline_trace import (
    LinearisedObjective,
    Trace,
    linearised_at,
    ratio,
)
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.start_time_costs import least_of_each, total
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.orders import (
    largest_area,
    shortest_job,
    smallest_area,
    smallest_product,
)
from hpcsched.system.system import IntArray

_ORDERS: Mapping[str, Callable[[WaitingJob], Any]] = {
    "fcfs": attrgetter("submit_time"),
    "sjf": shortest_job,
    "saf": smallest_area,
    "laf": largest_area,
    "spf": smallest_product,
}

WIDTHS = (8, 16, 32)
"""Number of jobs that are planned anew together, pass by pass."""

_LEAST_GAIN = 1e-5
"""A round of passes that gains less, relatively, is the last."""


class OfflineSchedule(NamedTuple):
    """A schedule of a whole trace.

    Attributes
    ----------
    starts
        Starts in seconds from the origin, `[J]`.
    placed
        Units of each job on each node, `[J, N]`.
    """

    starts: IntArray
    placed: IntArray
    method: str


def plan_in(trace: Trace, order: IntArray, method: str) -> OfflineSchedule:
    """Return the schedule of all jobs in an order, each at its earliest start.

    Parameters
    ----------
    order
        Numbers of the jobs, `[J]`.
    """
    starts = np.empty(trace.job_count, dtype=np.int64)
    placed = np.zeros_like(trace.data.room)
    done = plan_in_order(order, trace.data, FreeResources(trace.data), starts, placed)
    assert done, "a job does not fit on the idle system"
    return OfflineSchedule(starts, placed, method)


def shifted(trace: Trace, incumbent: OfflineSchedule) -> OfflineSchedule:
    """Return a schedule with every job as early as it can be on its nodes, in order of starts.

    No job starts later than before, and each starts where another one ends, or at its submission.
    """
    order = np.argsort(incumbent.starts, kind="stable")
    # Each job keeps its nodes: there is room for it nowhere else.
    bound = trace if trace.aggregated else trace.replaced(room=incumbent.placed)
    return plan_in(bound, order, incumbent.method)


def initial_schedules(trace: Trace, weights: FloatArray) -> Iterator[OfflineSchedule]:
    """Yield schedules of all jobs, in different orders.

    They take the jobs of the whole trace in one order each, by the keys of the queue orders and by
    area over weight in the objective (Smith, 1956). Where units are alike, list scheduling on-line
    in these orders gives further ones.

    Parameters
    ----------
    weights
        Cost of a second of waiting of each job, `[J]`.
    """
    for name, key in _ORDERS.items():
        # Jobs are numbered by submission, and sorting is stable: ties are broken by arrival.
        ranked = sorted(range(trace.job_count), key=lambda j: key(trace.jobs[j]))
        order = np.array(ranked, dtype=np.int64)
        yield plan_in(trace, order, f"all jobs in the order {name}")
        if trace.aggregated:
            yield _replayed(trace, order, f"list scheduling on-line, {name}")
    areas = np.array([float(job.area) for job in trace.jobs])
    ratio = areas / np.maximum(weights, 1e-300)
    yield plan_in(trace, np.argsort(ratio, kind="stable"), "all jobs by area over weight")


def plan_of(trace: Trace, online: Mapping[int, int], origin: int) -> OfflineSchedule:
    """Return a schedule with the starts of an on-line dispatcher.

    Where units are not alike it takes the jobs in the order of these starts.

    Parameters
    ----------
    online
        Starts by job number, in seconds.
    origin
        Time from which the schedule counts, in seconds.
    """
    method = "the dispatcher on-line"
    starts = np.array([online[job.job_id] - origin for job in trace.jobs], dtype=np.int64)
    if trace.aggregated:
        return OfflineSchedule(starts, np.zeros_like(trace.data.room), method)
    return plan_in(trace, np.argsort(starts, kind="stable"), method)


def _replayed(trace: Trace, order: IntArray, method: str) -> OfflineSchedule:
    """Return the schedule of list scheduling with backfilling on-line."""
    rank, starts = np.empty_like(order), np.empty_like(order)
    rank[order] = np.arange(trace.job_count)
    demands, slots = trace.data.demands[:, 0].copy(), int(trace.data.totals[0])
    replay_list(rank, trace.submit, demands, trace.run_times, slots, starts)
    return OfflineSchedule(starts, np.zeros_like(trace.data.room), method)


def large_neighbourhood_search(
    trace: Trace,
    linearised: LinearisedObjective,
    incumbent: OfflineSchedule,
    budget: int,
    random: np.random.Generator,
) -> tuple[OfflineSchedule, int]:
    """Return the best plan found from an incumbent on, and the number of segments looked through.

    Every plan that is returned has its jobs shifted to the earliest start on their nodes. The
    search ends with the budget, or when going through all jobs brings nothing more.
    """
    best = shifted(trace, incumbent)
    searched = f"{incumbent.method}, then searched in windows"
    value = _value(trace, linearised, best)
    # Never 0, which the generator of compiled code would not leave.
    state = random.integers(1, 1 << 62, size=1, dtype=np.int64)
    left = budget
    while left > 0:
        before = value
        for width in WIDTHS:
            if linearised.ratio:
                # Dinkelbach: the cost at the incumbent's ratio is below 0 just for plans of a lower
                # ratio.
                linearised = linearised_at(linearised, value)
            seeds = random.permutation(trace.job_count)
            starts, placed = best.starts.copy(), best.placed.copy()
            order = np.argsort(starts, kind="stable")
            costs = linearised.costs
            _, least = least_of_each(costs)
            left = search_neighbourhoods(
                seeds, width, left, state, trace.data, costs, least, order, starts, placed
            )
            trial = best._replace(starts=starts, placed=placed)
            plan = shifted(trace, trial)
            found = _value(trace, linearised, plan)
            # The cost of a pass is linearised; only the objective itself decides what is kept.
            if found < value:
                best, value = plan._replace(method=searched), found
            if left <= 0:
                break
        if before - value <= _LEAST_GAIN * abs(before):
            break
    return best, budget - max(left, 0)


def _value(trace: Trace, linearised: LinearisedObjective, incumbent: OfflineSchedule) -> float:
    """Return the objective of a plan, or a value that rises and falls with it."""
    return (
        ratio(trace, linearised, incumbent.starts)
        if linearised.ratio
        else total(linearised.costs, incumbent.starts)
    )
