"""List plans over the data of a model: warm starts for solvers, reference plans, and fallbacks."""

from collections.abc import Iterable, Iterator
from copy import copy

import numpy as np

from hpcsched._core import FreeResources, plan_in_order
from hpcsched.dispatching.planned_cost import FloatArray
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.orders import QueueOrder, sorted_queue
from hpcsched.system.system import IntArray


class ListPlanner:
    """List scheduling of a model's jobs in any order, each at its earliest start.

    Attributes
    ----------
    free
        Free resources before any job is planned.
    """

    def __init__(self, data: ModelData) -> None:
        self.data = data
        self.free = FreeResources(data)

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
        """
        data, free = self.data, self.free
        starts = np.zeros(data.job_count, dtype=np.int64)
        placed = np.zeros_like(data.room)
        rest = np.array(list(order), dtype=np.int64)
        if first is not None:
            free = copy(free)
            kept = (always | (first.starts == 0)) & (first.placed.sum(axis=1) == data.units)
            for job in kept.nonzero()[0].tolist():
                starts[job], placed[job] = first.starts[job], first.placed[job]
                free.take(job, data, int(starts[job]), placed[job])
            rest = rest[~kept[rest]]
        if not plan_in_order(rest, data, free, starts, placed):
            raise ValueError("a job does not fit on the nodes")
        return Plan(starts, placed)


def orders_of(
    problem: DispatchingProblem, selection: Selection, orders: Iterable[QueueOrder]
) -> Iterator[list[int]]:
    """Yield the selection's jobs in each queue order, as their numbers in the selection."""
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
