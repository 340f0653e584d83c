"""Initial schedules of a whole trace: jobs in several orders, each as early as it can be."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import FreeResources, plan_in_order, replay_list
from hpcsched.dispatching.offline.offline_trace import Trace
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.rules.orders import (
    largest_area,
    shortest_job,
    smallest_area,
    smallest_product,
)
from hpcsched.system.system import IntArray


def _by_arrival(job: WaitingJob) -> int:
    return job.submit_time


_ORDERS: Mapping[str, Callable[[WaitingJob], Any]] = {
    "fcfs": _by_arrival,
    "sjf": shortest_job,
    "saf": smallest_area,
    "laf": largest_area,
    "spf": smallest_product,
}


class OfflineSchedule(NamedTuple):
    """A schedule of a whole trace.

    Attributes
    ----------
    starts
        Starts in seconds from the origin, `[J]`.
    placed
        Units of each job on each node, `[J, N]`.
    method
        The method that found it, in words.
    """

    starts: IntArray
    placed: IntArray
    method: str


def plan_in(trace: Trace, order: IntArray, method: str) -> OfflineSchedule:
    """Return the schedule of all jobs in an order, each at its earliest start.

    Parameters
    ----------
    trace
        The trace, as arrays.
    order
        Numbers of the jobs, `[J]`.
    method
        The method, in words.
    """
    starts = np.empty(trace.job_count, dtype=np.int64)
    placed = np.zeros((trace.job_count, trace.selection.data.node_count), dtype=np.int64)
    capacity, none = trace.content.capacity, np.empty(0, dtype=np.int64)
    free = FreeResources(0, capacity.T.copy(), none, none, none.reshape(0, capacity.shape[1]))
    done = plan_in_order(order, trace.content, free, starts, placed)
    assert done, "a job does not fit on the idle system"
    return OfflineSchedule(starts, placed, method)


def shifted(trace: Trace, incumbent: OfflineSchedule) -> OfflineSchedule:
    """Return a schedule with every job as early as it can be on its nodes, in order of starts.

    No job starts later than before, and each starts where another one ends, or at its submission.
    """
    order = np.argsort(incumbent.starts, kind="stable")
    if trace.aggregated:
        return plan_in(trace, order, incumbent.method)
    # Each job keeps its nodes: there is room for it nowhere else.
    bound = trace._replace(content=trace.content._replace(room=incumbent.placed))
    return plan_in(bound, order, incumbent.method)


def initial_schedules(trace: Trace, weights: FloatArray) -> Iterator[OfflineSchedule]:
    """Yield schedules of all jobs, in different orders.

    They take the jobs of the whole trace in one order each, by the keys of the queue orders and by
    area over weight in the objective (Smith, 1956). Where units are alike, list scheduling on-line
    in these orders gives further ones.

    Parameters
    ----------
    trace
        The trace, as arrays.
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
    trace
        The trace, as arrays.
    online
        Starts by job number, in seconds.
    origin
        Time from which the schedule counts, in seconds.
    """
    method = "the dispatcher on-line"
    starts = np.array([online[job.job_id] - origin for job in trace.jobs], dtype=np.int64)
    if trace.aggregated:
        return OfflineSchedule(starts, np.zeros((trace.job_count, 1), dtype=np.int64), method)
    return plan_in(trace, np.argsort(starts, kind="stable"), method)


def _replayed(trace: Trace, order: IntArray, method: str) -> OfflineSchedule:
    """Return the schedule of list scheduling with backfilling on-line."""
    content = trace.content
    rank, starts = np.empty_like(order), np.empty_like(order)
    rank[order] = np.arange(trace.job_count)
    demands = content.units * content.requests[:, 0]
    slots = int(content.totals[0])
    replay_list(rank, trace.submit, demands, content.run_times, slots, starts)
    return OfflineSchedule(starts, np.zeros((trace.job_count, 1), dtype=np.int64), method)
