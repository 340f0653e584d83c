"""List plans over the data of a model: to start a solver from, to compare with, to fall back on."""

from collections.abc import Iterable, Iterator

import numpy as np

from hpcsched.dispatching.core import plan_kernels
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning import list_kernels
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.outage_data import OutageData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.segment_kernels import Content, Segments
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.orders import QueueOrder
from hpcsched.system.system import IntArray


class ListPlanner:
    """Plans the jobs of a model in any order, each at its earliest start beside those before it.

    `content` is what compiled code wants to know of its jobs and nodes.
    """

    def __init__(self, data: ModelData) -> None:
        self._data = data
        self.content = content_of(data)
        available, times, on, amounts = _with_shared_resources(data)
        segments = available.shape[1] + len(times)
        per_job = np.minimum(data.units, data.node_count) + data.pool_draws.shape[1]
        size = segments + 2 * int(per_job.sum()) + 8
        size += 0 if data.outages is None else 2 * len(data.outages.nodes)
        start, after = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        free = np.empty((size, data.type_count), dtype=np.int64)
        count = plan_kernels.open_plan(0, available, times, on, amounts, start, after, free)
        state = np.array([count], dtype=np.int64)
        self._segments = Segments(start, after, free, free.reshape(-1), state)
        if data.outages is not None:
            _close(data.outages, self._segments)

    def segments(self) -> Segments:
        """Return what is free before any job is planned, to be written to."""
        start, after, free, _, state = (part.copy() for part in self._segments)
        return Segments(start, after, free, free.reshape(-1), state)

    def plan(
        self, order: Iterable[int], first: Plan | None = None, *, always: bool = False
    ) -> Plan:
        """Return the plan of all jobs in an order, `[J]`.

        The jobs that `first` starts now are put where it says before all others; with `always`, so
        are all others that it has nodes for, at their times. Raises ValueError where a job does not
        fit on the idle nodes.
        """
        data, content, segments = self._data, self.content, self.segments()
        starts = np.zeros(data.job_count, dtype=np.int64)
        placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
        rest = np.array(list(order), dtype=np.int64)
        if first is not None:
            start, after, free, _, state = segments
            kept = (always | (first.starts == 0)) & (first.placed.sum(axis=1) == data.units)
            for job in kept.nonzero()[0]:
                nodes = first.placed[job].nonzero()[0]
                placed[job] = first.placed[job]
                amounts = first.placed[job][nodes][:, np.newaxis] * data.requests[job]
                starts[job] = begin = int(first.starts[job])
                end = begin + int(data.run_times[job])
                plan_kernels.take(begin, end, nodes, amounts, start, after, free, state)
                list_kernels.draw(begin, end, data.pool_draws[job], data.node_count, segments)
            rest = rest[~kept[rest]]
            content = content._replace(pooled=False)  # what was taken is not in order of time
        if not list_kernels.plan_in_order(rest, content, segments, starts, placed):
            raise ValueError("a job does not fit on the nodes")
        return Plan(starts, placed)


def content_of(data: ModelData) -> Content:
    """Return what compiled code wants to know of jobs and nodes."""
    alone = data.pools is None and data.outages is None
    return Content(
        alone and data.node_count == data.type_count == 1,
        data.units,
        data.requests,
        data.run_times,
        data.room,
        data.capacity,
        data.totals,
        data.pool_draws,
        np.zeros(data.job_count, dtype=np.int64),
    )


def _close(outages: OutageData, segments: Segments) -> None:
    """Have nothing be free on nodes while they are closed."""
    start, after, free, _, state = segments
    times = np.column_stack((outages.begins, outages.ends))
    alike, of = np.unique(times, axis=0, return_inverse=True)
    for k, (begin, end) in enumerate(alike.tolist()):
        nodes = outages.nodes[of.reshape(-1) == k]
        plan_kernels.close(begin, end, nodes, start, after, free, state)


def _with_shared_resources(data: ModelData) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return what is not held now, `[R, N + P]`, and what comes free when on which node, `[K, R]`.

    Pools are rows behind the nodes, with the first resource type alone. What comes free of them may
    be negative.
    """
    nodes, types, pools = data.node_count, data.type_count, data.pools
    if pools is None:
        available = np.ascontiguousarray(data.not_held.T)
        return available, data.held_until, data.held_on, data.held
    available = np.zeros((types, nodes + pools.pool_count), dtype=np.int64)
    available[:, :nodes] = data.not_held.T
    available[0, nodes:] = pools.free[0]
    more = np.diff(pools.free, axis=0)
    at, of = more.nonzero()
    amounts = np.zeros((len(at), types), dtype=np.int64)
    amounts[:, 0] = more[at, of]
    return (
        available,
        np.concatenate((data.held_until, pools.since[at + 1])),
        np.concatenate((data.held_on, nodes + of)),
        np.concatenate((data.held, amounts)),
    )


def orders_of(
    problem: DispatchingProblem, selection: Selection, orders: Iterable[QueueOrder]
) -> Iterator[list[int]]:
    """Yield how queue orders sort a selection's jobs, as their numbers."""
    numbers = {job.job_id: i for i, job in enumerate(selection.jobs)}
    asked = problem
    if len(numbers) < len(problem.queue):
        # Queue orders take jobs as they arrived, a selection has them by priority.
        selected = tuple(job for job in problem.queue if job.job_id in numbers)
        asked = problem._replace(queue=selected)
    for order in orders:
        yield [numbers[job.job_id] for job in order.sort(asked)]


def weighted_order(data: ModelData, weights: FloatArray) -> IntArray:
    """Return the order by area over weight in the objective, `[J]`, least first.

    It is the rule of Smith (1956) for one machine, with a job's area, its largest share of the
    nodes × run time, for the time that it takes.
    """
    shares = (data.demands / np.maximum(data.totals, 1)).max(axis=1)
    ratio = shares * data.run_times / np.maximum(weights, 1e-100)
    return np.argsort(ratio, kind="stable")
