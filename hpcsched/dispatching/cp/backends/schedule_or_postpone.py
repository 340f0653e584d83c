"""The papers' search, schedule or postpone, on the data of a formulation: no model is built.

Answers are deterministic under a budget: the nodes of the search tree are counted.
"""

from time import perf_counter
from typing import NamedTuple, Self

from hpcsched.context import Context
from hpcsched.dispatching.cp.backends.solver_params import ScheduleOrPostponeParams
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.model_solving import Answer
from hpcsched.dispatching.cp.postpone.known_constraints import mode_of
from hpcsched.dispatching.cp.postpone.postpone_search import schedule_or_postpone
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.decision import OVERRUN
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.registration import builtin


@builtin(
    "solver",
    "schedule-or-postpone",
    ScheduleOrPostponeParams,
    summary="the papers' search, which is part of hpcsched",
)
class ScheduleOrPostpone(NamedTuple):
    """The search of `hpcsched.dispatching.cp.postpone`.

    With `restart_after` it begins anew, with another order of jobs, after so many fails, after
    twice as many again, and so on.
    """

    restart_after: int | None = None
    largest: int = 1 << 60
    largest_objective: int = 1 << 50

    @classmethod
    def build(cls, params: ScheduleOrPostponeParams, _context: Context) -> Self:
        """Return the solver as its parameters say."""
        return cls(params.restart_after)

    @property
    def deterministic(self) -> bool:
        """Equal problems get equal answers under a budget."""
        return True

    def check_installed(self) -> None:
        """Do nothing: it is part of hpcsched."""

    def check_formulation(self, formulation: Formulation) -> None:
        """Raise InputError for a formulation with constraints that the search does not know."""
        mode_of(formulation)

    def solve(
        self,
        formulation: Formulation,
        data: ModelData,
        limits: Limits,
        hint: Plan | None,
        seconds: float | None = None,
    ) -> Answer:
        """Search for the best plan within limits, starting from a hint if there is one.

        Parameters
        ----------
        formulation
            The formulation.
        data
            The model's data.
        limits
            A budget or a stopping rule.
        hint
            Values of variables to start from; None: no warm start.
        seconds
            Real seconds after which the best plan so far is handed over; None: no limit.
        """
        began = perf_counter()
        found = schedule_or_postpone(
            data, formulation, limits, hint, self.restart_after, seconds=seconds
        )
        status = "overrun" if found.late and found.plan is None else found.status
        return Answer(
            status,
            found.plan,
            found.objective,
            # The search has no bound of the whole tree: only its end proves one.
            found.objective if found.status == "optimal" else None,
            formulation.variables(data),
            solve_time=perf_counter() - began,
            why=f"{OVERRUN}ended after {seconds:.3g} s" if found.late else "",
            branches=found.nodes,
            fails=found.fails,
        )
