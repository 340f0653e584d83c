"""CP dispatchers for tests, that solve in this process."""

from dataclasses import replace
from typing import Any

from hpcsched.dispatching.cp.backends.backend import Budget, Limits
from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.cp_improver import CpImprover, Method, SolverClient
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.joint_now import joint_now
from hpcsched.dispatching.cp.formulations.pcp19 import pcp4, pcp19
from hpcsched.dispatching.cp.formulations.scheduling import hcp19
from hpcsched.dispatching.cp.formulations.unit_positions import pcp20, pcp21
from hpcsched.dispatching.cp.solver_process import Answer, InProcess, Task
from hpcsched.dispatching.objectives import AF, BoundedSlowdown
from hpcsched.dispatching.planning import Jobs
from hpcsched.dispatching.planning.node_choice import LITTLE
from hpcsched.dispatching.planning.planning_dispatcher import PlanningDispatcher
from hpcsched.dispatching.planning.search_objective import (
    ModelCost,
    SearchObjective,
    search_objective,
)
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.rules.orders import (
    KEYS,
    ArrivalOrder,
    ColumnKeyOrder,
    QueueOrder,
    slowdown_order,
)
from hpcsched.dispatching.search.order_search import OrderSearch, random_state
from tests.builders import ALLOCATORS, ORDERS

FORMULATIONS: dict[str, Formulation] = {
    "hcp19": hcp19(),
    "pcp19": pcp19(),
    "pcp4": pcp4(),
    "pcp20": pcp20(),
    "pcp21": pcp21(),
    "joint-now": joint_now(),
}


class Scripted:
    """A solver that answers as it is told, and counts how often it is asked."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer
        self.tasks: list[Task] = []

    def solve(self, task: Task, seconds: float | None) -> Answer:
        """Return what a function makes of the task, or the one answer."""
        self.tasks.append(task)
        answer = self.answer(task) if callable(self.answer) else self.answer
        assert isinstance(answer, Answer)
        return answer

    def close(self) -> None:
        """Do nothing."""


SOME = Budget(0.01)
ARRIVAL_AND_SHORTEST: tuple[QueueOrder, ...] = (ArrivalOrder(), ColumnKeyOrder(KEYS["sjf"]))


def cp_dispatcher(
    formulation: Formulation | str = "pcp19",
    *,
    solver: Any = None,
    objective: Any = None,
    priority: Any = None,
    cost_of: Any = None,
    backend: Any = None,
    allocator: str = "best-fit",
    jobs: Jobs = "all",
    length: int = 100,
    orders: tuple[QueueOrder, ...] = ARRIVAL_AND_SHORTEST,
    decode: Method = "list",
    overdue: bool = True,
    largest_model: int = 20_000,
) -> PlanningDispatcher:
    """Return a dispatcher that plans all jobs with a small budget, if nothing else is said."""
    return asking(
        FORMULATIONS[formulation] if isinstance(formulation, str) else formulation,
        ModelCost(cost_of or (objective or BoundedSlowdown()).planned_cost),
        decode,
        priority or slowdown_order(),
        options=SelectionOptions(jobs, length, 1.5, overdue=overdue),
        orders=orders,
        solver=solver,
        backend=backend,
        allocator=allocator,
        limits=Budget(0.002),
        largest_model=largest_model,
        weighted=bool(orders),
    )


def improving(
    method: Method = "best",
    *,
    objective: Any = None,
    dinkelbach_parameter: float | None = None,
    orders: tuple[str, ...] = ("fcfs", "laf"),
    weighted: bool = False,
    limits: Limits = SOME,
    asks: bool = True,
    length: int = 100,
    effort: int = 0,
    **more: Any,
) -> PlanningDispatcher:
    """Return a dispatcher that improves on list plans of the first jobs by arrival."""
    dispatcher = asking(
        hcp19(),
        search_objective(objective or AF(), dinkelbach_parameter),
        method,
        ORDERS["fcfs"],
        options=SelectionOptions("all", length, 1.5, curves=False, few=LITTLE),
        orders=tuple(ORDERS[order] for order in orders),
        limits=limits,
        weighted=weighted,
        search=OrderSearch(effort, 2.0, random_state(0)) if effort else None,
        **more,
    )
    return dispatcher if asks else replace(dispatcher, improver=None)


def asking(
    formulation: Formulation,
    objective: SearchObjective,
    method: Method,
    priority: QueueOrder,
    *,
    options: SelectionOptions,
    orders: tuple[QueueOrder, ...],
    limits: Limits,
    weighted: bool,
    solver: Any = None,
    backend: Any = None,
    allocator: str = "best-fit",
    largest_model: int = 20_000,
    search: OrderSearch | None = None,
) -> PlanningDispatcher:
    """Return a dispatcher that asks a solver, in this process if nothing else is said."""
    backend = backend or OrTools()
    client = SolverClient(formulation, backend, solver or InProcess(), None)
    return PlanningDispatcher(
        objective,
        priority,
        CpImprover(client, largest_model, limits, method, search),
        ALLOCATORS[allocator],
        options._replace(largest=backend.largest_objective),
        orders,
        weighted,
    )


def improver_of(dispatcher: PlanningDispatcher) -> CpImprover:
    """Return what asks the solver."""
    assert isinstance(dispatcher.improver, CpImprover)
    return dispatcher.improver
