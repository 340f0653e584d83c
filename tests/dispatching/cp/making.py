"""CP dispatchers for tests, that solve in this process."""

from typing import Any

from hpcsched.dispatching.cp.backends.ortools import OrTools
from hpcsched.dispatching.cp.dispatcher import CpDispatcher, CpSettings
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.formulations.hcp19 import Hcp19
from hpcsched.dispatching.cp.formulations.joint_now import JointNow
from hpcsched.dispatching.cp.formulations.node_time import NodeTime
from hpcsched.dispatching.cp.formulations.pcp4 import Pcp4
from hpcsched.dispatching.cp.formulations.pcp19 import Pcp19
from hpcsched.dispatching.cp.formulations.pcp20 import Pcp20
from hpcsched.dispatching.cp.formulations.pcp21 import Pcp21
from hpcsched.dispatching.cp.guard import InProcess
from hpcsched.dispatching.cp.limits import Budget
from hpcsched.dispatching.cp.solving import Answer, Task
from hpcsched.dispatching.heuristic.orders import (
    ArrivalOrder,
    KeyOrder,
    SlowdownOrder,
    shortest_job,
)
from hpcsched.dispatching.objectives import BoundedSlowdown
from tests.builders import ALLOCATORS

FORMULATIONS: dict[str, Formulation] = {
    "hcp19": Hcp19(),
    "pcp19": Pcp19(),
    "pcp4": Pcp4(),
    "pcp20": Pcp20(),
    "pcp21": Pcp21(),
    "pcp21s": Pcp21(symmetric=True),
    "node-time": NodeTime(),
    "joint-now": JointNow(),
    "joint-now, nodes": JointNow(classes=False),
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


def cp_dispatcher(
    formulation: Formulation | str = "node-time",
    *,
    solver: Any = None,
    objective: Any = None,
    priority: Any = None,
    cost_of: Any = None,
    backend: Any = None,
    allocator: str = "best_fit",
    **settings: Any,
) -> CpDispatcher:
    """Return a dispatcher that plans all jobs with a small budget, if nothing else is said."""
    given = {
        "jobs": "all",
        "length": 100,
        "limits": Budget(0.002),
        "orders": (ArrivalOrder(), KeyOrder(shortest_job)),
        **settings,
    }
    return CpDispatcher(
        FORMULATIONS[formulation] if isinstance(formulation, str) else formulation,
        backend or OrTools(),
        solver or InProcess(),
        priority or SlowdownOrder(),
        cost_of or (objective or BoundedSlowdown()).planned_cost,
        ALLOCATORS[allocator],
        CpSettings(**given),
    )
