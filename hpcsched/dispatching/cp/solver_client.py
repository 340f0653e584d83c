"""Solver client: calls a solver about a selection, and checks its answer before it is used."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend, total
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.model_solving import Answer, Task, largest_number
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.cp.solver_process import Solver
from hpcsched.dispatching.decision import SOLVED, SolverCall
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.plugin_faults import is_third_party, named

_HANDOVER_SECONDS = 1.0
"""Time before the guard at which a solver that can hands over its best plan, in seconds."""


class SolveResult(NamedTuple):
    """The checked result of a call.

    Attributes
    ----------
    answer
        The solver's answer, without its plan if that was wrong.
    """

    answer: Answer
    call: SolverCall


class SolverClient(NamedTuple):
    """A solver with a formulation, and the options of its calls.

    Attributes
    ----------
    guard
        Seconds after which a call is ended from outside; None: never.
    by_priority
        Whether the first by priority of equally good plans is computed.
    """

    formulation: Formulation
    backend: Backend | DataBackend
    solver: Solver
    guard: float | None
    by_priority: bool = False

    def can_count(self, data: ModelData) -> bool:
        """Say whether all numbers of a model are within the solver's range."""
        return largest_number(self.formulation, data) <= self.backend.largest

    def ask(self, selection: Selection, limits: Limits, hint: Plan | None) -> SolveResult:
        """Return the solver's best plan of a selection.

        Parameters
        ----------
        hint
            A plan to start from; None: no warm start.
        """
        task = Task(
            self.formulation,
            selection.data,
            self.backend,
            limits,
            hint,
            self.by_priority,
            None if self.guard is None else self.guard - min(self.guard / 5, _HANDOVER_SECONDS),
        )
        answer = self.solver.solve(task, self.guard)
        if answer.why and is_third_party(self.backend):
            # The answer comes from a process of its own, which does not know plugins.
            answer = answer._replace(why=f"{named('solver', self.backend)}: {answer.why}")
        call = _call(selection, answer)
        if answer.plan is None:
            return SolveResult(answer, call)
        # No answer is trusted: a wrong plan would fail in the simulation, far from its cause.
        fault = _fault(answer.plan, selection, self.formulation)
        if fault is None:
            return SolveResult(answer, call)
        call = call._replace(status="invalid", objective=None, bound=None, why=fault)
        return SolveResult(
            answer._replace(status="invalid", plan=None, objective=None, bound=None), call
        )


def overflow_result(selection: Selection, error: OverflowError) -> SolveResult:
    """Return the result for a selection with numbers too large for the solver."""
    answer = Answer("overflow", why=str(error))
    return SolveResult(answer, _call(selection, answer))


def in_planned_order(plan: Plan) -> Sequence[int]:
    """Return the jobs in the order of their planned starts; jobs of one start by number."""
    order: list[int] = np.lexsort((np.arange(len(plan.starts)), plan.starts)).tolist()
    return order


def together(calls: Sequence[SolverCall]) -> SolverCall | None:
    """Return one record for all calls of a round about the same jobs; None without any.

    The status is the best of any: what one call has proved holds for all. The objective is the
    least, the bound the largest; times, branches and fails are added up, and `why` has the reasons
    of the calls without a plan, or that ended early.
    """
    if len(calls) < 2:
        return calls[0] if calls else None
    solved = [call for status in SOLVED for call in calls if call.status == status]
    best = (*solved, *calls)[0]
    objectives = [call.objective for call in calls if call.objective is not None]
    bounds = [call.bound for call in calls if call.bound is not None]
    troubles = [
        f"{call.status}: {call.why}" if call.why else call.status
        for call in calls
        if call.status not in SOLVED or call.why
    ]
    # Each reason once: a hundred calls may fail alike.
    why = f"{len(troubles)} of {len(calls)} calls: {'; '.join(dict.fromkeys(troubles))}"
    return SolverCall(
        best.status,
        best.jobs,
        max(call.variables for call in calls),
        min(objectives, default=None),
        max(bounds, default=None),
        sum(call.build_time for call in calls),
        sum(call.transform_time for call in calls),
        sum(call.solve_time for call in calls),
        why if troubles else "",
        total([call.branches for call in calls]),
        total([call.fails for call in calls]),
    )


def _call(selection: Selection, answer: Answer) -> SolverCall:
    objective, bound = answer.objective, answer.bound
    return SolverCall(
        answer.status,
        len(selection.jobs),
        answer.variables,
        None if objective is None else selection.bound(objective),
        None if bound is None else selection.bound(bound),
        answer.build_time,
        answer.transform_time,
        answer.solve_time,
        answer.why,
        answer.branches,
        answer.fails,
    )


def _fault(plan: Plan, selection: Selection, formulation: Formulation) -> str | None:
    """Return the fault of a solver's plan; None if there is none.

    Jobs that it starts now without nodes, where it does not have to name any, are no fault.
    """
    data = selection.data
    starts, placed = plan
    if starts.shape != (data.job_count,) or (starts < 0).any():
        return "it is not about the jobs asked about"
    if formulation.binds == "plan":
        return fault_of(plan, data)
    with_nodes = placed.sum(axis=1) > 0
    # A start now without nodes is no promise: it is checked as if it were a step later.
    later = np.where(with_nodes, starts, np.maximum(starts, 1))
    return fault_of(Plan(later, placed), data, only_now=True)
