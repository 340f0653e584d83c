"""The protocol of improvers, and what they improve on: the list plans of a round."""

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

from hpcsched.dispatching.decision import SolverCall
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.explaining import ExecutedPlan
from hpcsched.dispatching.planning.list_plans import ListPlanner
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.search_objective import SearchObjective
from hpcsched.dispatching.planning.selection import Selection, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem


class Plans:
    """The plans at hand for a selection; `best` is the first of least value, None without any."""

    def __init__(
        self,
        objective: SearchObjective,
        selection: Selection,
        planner: ListPlanner,
        plans: Iterable[Plan],
    ) -> None:
        self.objective = objective
        self.selection = selection
        self.planner = planner
        self.at_hand = list(plans)
        self.best = min(self.at_hand, key=self.value, default=None)

    @property
    def has_to_wait(self) -> bool:
        """Whether some job waits in the best plan, so that there may be a better one."""
        return self.best is None or bool(self.best.starts.any())

    def value(self, plan: Plan) -> float:
        """Return the value of a plan: the lower, the better."""
        return self.objective.value(self.selection, plan.starts)

    def add(self, plan: Plan, *, even: bool = False) -> bool:
        """Add a plan; say whether it is the best now.

        It is if its value is lower than that of the best so far or, with `even`, no higher.
        """
        self.at_hand.append(plan)
        if self.best is not None:
            value, least = self.value(plan), self.value(self.best)
            if not (value < least or (even and value == least)):
                return False
        self.best = plan
        return True

    def target(self) -> PlannedCost:
        """Return a cost by which plans that are better than the best cost less."""
        starts = None if self.best is None else self.best.starts
        return self.objective.toward(self.selection, starts)


class PlanningRound:
    """One round: the problem, the selection to plan, and the list plans to start from.

    `orders` are those of the list plans, as numbers of the selected jobs.
    """

    def __init__(
        self,
        problem: DispatchingProblem,
        options: SelectionOptions,
        objective: SearchObjective,
        selection: Selection,
        orders: Iterable[Sequence[int]],
    ) -> None:
        self.problem = problem
        self.options = options
        self.objective = objective
        self.selection = selection
        self.orders = list(orders)
        self.planner = ListPlanner(selection.data)

    @cached_property
    def plans(self) -> Plans:
        """The list plans, and those that improvers add; made when first asked for."""
        plans = map(self.planner.plan, self.orders)
        return Plans(self.objective, self.selection, self.planner, plans)

    def best(self) -> ExecutedPlan:
        """Return the best plan, which without any is the list plan by priority."""
        plan = self.plans.best or self.planner.plan(range(len(self.selection.jobs)))
        return ExecutedPlan(self.selection, plan)


class Improved(NamedTuple):
    """The outcome of an improver.

    Attributes
    ----------
    executed
        The plan to carry out; None: the best of the round's plans.
    anew
        Whether the allocator places what starts now, in order of priority as far as there is room,
        wherever the plan has it.
    fallback
        Whether there should have been a better plan than those at hand, and there is none.
    solver
        How a solver fared, if one was asked.
    """

    executed: ExecutedPlan | None = None
    anew: bool = False
    fallback: bool = False
    solver: SolverCall | None = None


class Improver(Protocol):
    """Looks for a plan that is better than list plans."""

    def improve(self, given: PlanningRound) -> Improved:
        """Add better plans to those of a round, or return the one to carry out."""
