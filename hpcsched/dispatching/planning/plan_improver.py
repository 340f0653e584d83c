"""The protocol of improvers, and the list plans of a round, which they begin with."""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from hpcsched._core import FreeResources, plan_in_order
from hpcsched.dispatching.decision import SolverCall
from hpcsched.dispatching.planned_cost import FloatArray, PlannedCost
from hpcsched.dispatching.planning.model_data import ModelData, Plan
from hpcsched.dispatching.planning.plan_execution import ExecutedPlan
from hpcsched.dispatching.planning.search_objective import SearchObjective
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
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


@dataclass
class Plans:
    """The plans known for a selection; `best` is the incumbent, the first of least value, or None.

    `planner` makes list plans of the selection; plans are compared by the search objective.
    """

    objective: SearchObjective
    selection: Selection
    planner: ListPlanner
    at_hand: list[Plan]
    best: Plan | None = field(init=False)

    def __post_init__(self) -> None:
        self.best = min(self.at_hand, key=self.value, default=None)

    @property
    def has_to_wait(self) -> bool:
        """True if a job waits in the incumbent, so that a better plan is possible."""
        return self.best is None or bool(self.best.starts.any())

    def value(self, plan: Plan) -> float:
        """Return the value of a plan: the lower, the better."""
        return self.objective.value(self.selection, plan.starts)

    def add(self, plan: Plan, *, even: bool = False) -> bool:
        """Add a plan; say whether it is the new incumbent.

        It is if its value is lower than the incumbent's or, with `even`, no higher.
        """
        self.at_hand.append(plan)
        if self.best is not None:
            value, least = self.value(plan), self.value(self.best)
            # Of equal plans the first stays, so that list plans come in the order of the scenario.
            if not (value < least or (even and value == least)):
                return False
        self.best = plan
        return True

    def target(self) -> PlannedCost:
        """Return a cost that is lower for exactly the plans that improve on the incumbent."""
        starts = None if self.best is None else self.best.starts
        return self.objective.toward(self.selection, starts)


@dataclass
class PlanningRound:
    """One round: the problem, the selection to plan, and the list plans to start from.

    `options` are those that the selection was made with; `orders` are those of the list plans, each
    as numbers of the selected jobs.
    """

    problem: DispatchingProblem
    options: SelectionOptions
    objective: SearchObjective
    selection: Selection
    orders: Sequence[Sequence[int]]

    @cached_property
    def planner(self) -> ListPlanner:
        """Makes list plans of the selection."""
        return ListPlanner(self.selection.data)

    @cached_property
    def plans(self) -> Plans:
        """The list plans, and those that improvers add; computed at first use."""
        plans = [self.planner.plan(order) for order in self.orders]
        return Plans(self.objective, self.selection, self.planner, plans)

    def best(self) -> ExecutedPlan:
        """Return the incumbent; without any plan, the list plan by priority."""
        plan = self.plans.best or self.planner.plan(range(len(self.selection.jobs)))
        return ExecutedPlan(self.selection, plan)


class Improved(NamedTuple):
    """The outcome of an improver.

    Attributes
    ----------
    executed
        The plan to carry out; None: the incumbent of the round's plans.
    anew
        Whether the allocator places all jobs that start now, in order of priority as far as there
        is room, regardless of the plan's nodes.
    fallback
        Whether an improvement was due and none was found, so that a list plan is carried out.
    solver
        Record of the solver call; None if no solver was called.
    """

    executed: ExecutedPlan | None = None
    anew: bool = False
    fallback: bool = False
    solver: SolverCall | None = None


class Improver(Protocol):
    """Improves on the list plans of a round: order search (`search`) or a solver (`cp`)."""

    def improve(self, given: PlanningRound) -> Improved:
        """Add better plans to those of a round, or return the plan to carry out."""
