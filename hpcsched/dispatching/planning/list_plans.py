"""List plans over the data of a model: warm starts for solvers, reference plans, and fallbacks."""

from collections.abc import Iterable, Iterator
from copy import copy
from typing import NamedTuple

import numpy as np

from hpcsched._core import FreeResources, plan_in_order
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.outage_data import OutageData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.orders import QueueOrder, sorted_queue
from hpcsched.system.system import IntArray


class ModelJobs(NamedTuple):
    """Jobs and nodes of `ModelData`, draws from shared resources, and release times.

    Attributes
    ----------
    aggregated
        Whether units are counted, so that nodes are not distinguished.
    units, requests, run_times, room, capacity, totals
        As in `ModelData`.
    draws
        Amount that each job draws from each shared resource, `[J, P]`.
    releases
        Step before which no job is planned, `[J]`.
    """

    aggregated: bool
    units: IntArray
    requests: IntArray
    run_times: IntArray
    room: IntArray
    capacity: IntArray
    totals: IntArray
    draws: IntArray
    releases: IntArray


class ListPlanner:
    """List scheduling of a model's jobs in any order, each at its earliest start.

    Attributes
    ----------
    content
        The jobs and nodes, as the core takes them.
    free
        Free resources before any job is planned.
    """

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.content = content_of(data)
        self.free = FreeResources(0, *_with_shared_resources(data))
        if data.outages is not None:
            _close(data.outages, self.free)

    def plan(
        self, order: Iterable[int], first: Plan | None = None, *, always: bool = False
    ) -> Plan:
        """Return the plan of all jobs in an order.

        Parameters
        ----------
        order
            Numbers of the jobs, `[J]`.
        first
            A plan. Its jobs of start 0 keep their nodes and are placed before all others.
        always
            Keep all jobs of `first` that have nodes, at their times.

        Raises
        ------
        ValueError
            A job does not fit on the idle nodes.
        """
        data, content, free = self._data, self.content, self.free
        starts = np.zeros(data.job_count, dtype=np.int64)
        placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
        rest = np.array(list(order), dtype=np.int64)
        if first is not None:
            free = copy(free)
            kept = (always | (first.starts == 0)) & (first.placed.sum(axis=1) == data.units)
            for job in kept.nonzero()[0]:
                nodes = first.placed[job].nonzero()[0]
                placed[job] = first.placed[job]
                amounts = first.placed[job][nodes][:, np.newaxis] * data.requests[job]
                starts[job] = begin = int(first.starts[job])
                end = begin + int(data.run_times[job])
                free.take(begin, end, nodes, amounts)
                free.draw(begin, end, data.shared_draws[job], data.node_count)
            rest = rest[~kept[rest]]
            content = content._replace(aggregated=False)  # what was taken is not in order of time
        if not plan_in_order(rest, content, free, starts, placed):
            raise ValueError("a job does not fit on the nodes")
        return Plan(starts, placed)


def content_of(data: ModelData) -> ModelJobs:
    """Return the jobs and nodes of a model, as the core takes them.

    Parameters
    ----------
    data
        The model.
    """
    alone = data.shared_resources is None and data.outages is None
    return ModelJobs(
        alone and data.node_count == data.type_count == 1,
        data.units,
        data.requests,
        data.run_times,
        data.room,
        data.capacity,
        data.totals,
        data.shared_draws,
        np.zeros(data.job_count, dtype=np.int64),
    )


def _close(outages: OutageData, free: FreeResources) -> None:
    """Make nodes unavailable while they are down."""
    times = np.column_stack((outages.begins, outages.ends))
    alike, of = np.unique(times, axis=0, return_inverse=True)
    # Outages of many nodes at the same times are closed in one call.
    for k, (begin, end) in enumerate(alike.tolist()):
        nodes = outages.nodes[of.reshape(-1) == k]
        free.close(begin, end, nodes)


def _with_shared_resources(data: ModelData) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the amounts not allocated now, `[R, N + P]`, and the later releases, `[K, R]`.

    Shared resources are rows behind the nodes, with the first resource type alone. Their releases
    may be negative.
    """
    nodes, types, shared_resources = data.node_count, data.type_count, data.shared_resources
    if shared_resources is None:
        available = np.ascontiguousarray(data.not_allocated.T)
        return available, data.allocated_until, data.allocated_on, data.allocated
    available = np.zeros((types, nodes + shared_resources.shared_count), dtype=np.int64)
    available[:, :nodes] = data.not_allocated.T
    available[0, nodes:] = shared_resources.free[0]
    more = np.diff(shared_resources.free, axis=0)
    at, of = more.nonzero()
    amounts = np.zeros((len(at), types), dtype=np.int64)
    amounts[:, 0] = more[at, of]
    return (
        available,
        np.concatenate((data.allocated_until, shared_resources.since[at + 1])),
        np.concatenate((data.allocated_on, nodes + of)),
        np.concatenate((data.allocated, amounts)),
    )


def orders_of(
    problem: DispatchingProblem, selection: Selection, orders: Iterable[QueueOrder]
) -> Iterator[list[int]]:
    """Yield the selection's jobs in each queue order, as their numbers in the selection.

    Parameters
    ----------
    problem
        The dispatching problem, whose queue is in order of arrival.
    selection
        The selected jobs, in order of priority.
    orders
        The queue orders.
    """
    numbers = {job.job_id: i for i, job in enumerate(selection.jobs)}
    asked = problem
    if len(numbers) < len(problem.queue):
        # Queue orders take jobs as they arrived, a selection has them by priority.
        selected = tuple(job for job in problem.queue if job.job_id in numbers)
        asked = problem._replace(queue=selected)
    for order in orders:
        yield [numbers[job.job_id] for job in sorted_queue(order, asked)]


def weighted_order(data: ModelData, weights: FloatArray) -> IntArray:
    """Return the order by area over weight in the objective, least first, `[J]` (Smith's rule).

    Notes
    -----
    It is the rule of Smith (1956) for one machine, with a job's area, its largest share of the
    nodes × run time, for the time that it takes.
    """
    shares = (data.demands / np.maximum(data.totals, 1)).max(axis=1)
    ratio = shares * data.run_times / np.maximum(weights, 1e-100)
    return np.argsort(ratio, kind="stable")
