"""The improver that calls a solver, about all that is planned or the first of it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from hpcsched.dispatching.cp.backends.backend import Backend, DataBackend, Limits, share, total
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.solver_process import Answer, Solver, Task, largest_number
from hpcsched.dispatching.decision import SOLVED, SolverCall
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.model_data import ModelData, Plan, fault_of
from hpcsched.dispatching.planning.plan_execution import ExecutedPlan
from hpcsched.dispatching.planning.plan_improver import Improved, ListPlanner, PlanningRound, Plans
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.search.order_search import OrderSearch
from hpcsched.plugin_faults import is_third_party, named
from hpcsched.system.system import IntArray

LEVELS = (0.7, 0.2, 0.1)
"""Shares of a round's limits for one model after another, where a better plan makes another.

Most comes of the first: each takes its time to build, and few find still better plans.
"""

Method = Literal["list", "prb", "best", "each"]


class SolverClient(NamedTuple):
    """A solver with a formulation; its answers are checked before they are used.

    Attributes
    ----------
    guard
        Seconds after which a call is ended from outside; None: never.
    """

    formulation: Formulation
    backend: Backend | DataBackend
    solver: Solver
    guard: float | None

    def ask(
        self, selection: Selection, limits: Limits, hint: Plan | None
    ) -> tuple[Answer, SolverCall]:
        """Return the answer about a selection, without a plan if that is wrong, and its record."""
        task = Task(self.formulation, selection.data, self.backend, limits, hint)
        answer = self.solver.solve(task, self.guard)
        if answer.why and is_third_party(self.backend):
            # The answer comes from a process of its own, which does not know plugins.
            answer = answer._replace(why=f"{named('solver', self.backend)}: {answer.why}")
        # No answer is trusted: a wrong plan would fail in the simulation, far from its cause.
        plan = answer.plan
        fault = None if plan is None else _fault(plan, selection.data, self.formulation)
        if fault is not None:
            answer = answer._replace(
                status="invalid", plan=None, objective=None, bound=None, why=fault
            )
        return answer, _call(selection, answer)


def _call(selection: Selection, answer: Answer) -> SolverCall:
    objective, bound = (
        None if value is None else selection.bound(value)
        for value in (answer.objective, answer.bound)
    )
    jobs = len(selection.jobs)
    return SolverCall(answer.status, jobs, answer.variables, objective, bound, *answer[5:])


def _overflow(selection: Selection, error: OverflowError) -> tuple[Answer, SolverCall]:
    answer = Answer("overflow", why=str(error))
    return answer, _call(selection, answer)


def _fault(plan: Plan, data: ModelData, formulation: Formulation) -> str | None:
    """Return the fault of a solver's plan; None if there is none.

    Jobs that it starts now without nodes, where it does not have to name any, are no fault.
    """
    starts, placed = plan
    if starts.shape != (data.job_count,) or (starts < 0).any():
        return "it is not about the jobs asked about"
    if formulation.binds == "plan":
        return fault_of(plan, data)
    # A start now without nodes is no promise: it is checked as if it were a second later.
    later = np.where(placed.any(axis=1), starts, np.maximum(starts, 1))
    return fault_of(Plan(later, placed), data, only_now=True)


def in_planned_order(plan: Plan) -> Sequence[int]:
    """Return the jobs in the order of their planned starts; jobs of one start by number."""
    order: list[int] = plan.starts.argsort(kind="stable").tolist()
    return order


def together(calls: Sequence[SolverCall]) -> SolverCall | None:
    """Return one record for all calls of a round about the same jobs; None without any.

    The status is the best of any, as what one call has proved holds for all; `why` has the reasons
    of the calls without a plan, or that ended early.
    """
    if len(calls) < 2:
        return calls[0] if calls else None
    solved = [call for status in SOLVED for call in calls if call.status == status]
    best = (*solved, *calls)[0]
    troubles = [
        f"{call.status}: {call.why}" if call.why else call.status
        for call in calls
        if call.status not in SOLVED or call.why
    ]
    # Each reason once: a hundred calls may fail alike.
    why = f"{len(troubles)} of {len(calls)} calls: {'; '.join(dict.fromkeys(troubles))}"
    sums: dict[str, Any] = {
        name: total([getattr(call, name) for call in calls])
        for name in ("build_time", "transform_time", "solve_time", "branches", "fails")
    }
    return best._replace(
        variables=max(call.variables for call in calls),
        objective=min((c.objective for c in calls if c.objective is not None), default=None),
        bound=max((c.bound for c in calls if c.bound is not None), default=None),
        why=why if troubles else "",
        **sums,
    )


class Part:
    """The solver's model beside the whole selection of a round.

    The model is the whole, or the first of its jobs, with those of its nodes that they need.

    Attributes
    ----------
    plans
        The plans of the whole in the model's terms: list plans in the orders of their starts.
    """

    def __init__(self, whole: Plans, model: Selection) -> None:
        self.model = model
        self.is_whole = model is whole.selection
        self.plans = whole
        self.whole = whole
        numbers = {job.job_id: i for i, job in enumerate(whole.selection.jobs)}
        self._jobs: IntArray = np.array([numbers[job.job_id] for job in model.jobs], dtype=np.int64)
        if not self.is_whole:
            planner = ListPlanner(model.data)
            own = {j: i for i, j in enumerate(self._jobs.tolist())}
            # In the order in which a plan of the whole starts its jobs.
            orders = ([own[j] for j in in_planned_order(p) if j in own] for p in whole.at_hand)
            self.plans = Plans(whole.objective, model, planner, [*map(planner.plan, orders)])

    def extended(self, plan: Plan, *, as_planned: bool = False) -> Plan:
        """Return the plan of the whole that a plan of the model begins.

        The other jobs follow in the order of the best plan of the whole or, without any, by
        priority.

        Parameters
        ----------
        plan
            The starts of the model's jobs, with the nodes at least of those that start now.
        as_planned
            Whether the model's jobs stay where and when the plan has them. Otherwise they are
            planned anew, by list scheduling in the order of their starts; those that start now and
            have nodes stay.
        """
        in_order = in_planned_order(plan)
        planner, best = self.whole.planner, self.whole.best
        if self.is_whole:
            return plan if as_planned else planner.plan(in_order, plan)
        order = range(len(self.whole.selection.jobs)) if best is None else in_planned_order(best)
        # Each job once, at its first place.
        planned = dict.fromkeys([*self._jobs[in_order].tolist(), *order])
        return planner.plan(planned, self._of_whole(plan), always=as_planned)

    def _of_whole(self, plan: Plan) -> Plan:
        """Return the same starts and nodes in the whole's terms; its other jobs have no nodes."""
        data, nodes = self.whole.selection.data, self.whole.selection.nodes
        # 1 stands for any later start: 0 would claim that the other jobs start now.
        starts = np.ones(data.job_count, dtype=np.int64)
        starts[self._jobs] = plan.starts
        columns = np.zeros(1, dtype=np.int64)
        if nodes is not None and self.model.nodes is not None:
            columns = np.searchsorted(nodes, self.model.nodes)
        placed = np.zeros_like(data.room)
        placed[np.ix_(self._jobs, columns)] = plan.placed
        return Plan(starts, placed)


class Calls:
    """The calls about one part of a round.

    - `list`: the solver is called once, starting from the best plan. Its plan is carried out by
      list scheduling in the order of planned starts, jobs with nodes first; a plan that binds all
      nodes also as it stands. Of equal plans the solver's is the best.
    - `prb`: the same, but the plan is executed as the solver has it (HCP'19; Galleguillos, thesis
      2020, section 2.3).
    - `best`, `each`: the solver improves on the best plan, or on each of them and then plans
      without a warm start, and all is carried out by list scheduling. On aggregated nodes no job
      starts later by it, and elsewhere this finds the nodes (Goponenko et al., DEBS 2024, sections
      2.3, 4, 5.2 and 5.4).
    """

    def __init__(self, part: Part, client: SolverClient, *, worst_case: bool) -> None:
        self.part = part
        self.plans = part.plans
        self.made: list[SolverCall] = []
        self.solved = False
        self._client = client
        # Where a model has fewer plans than the problem, none may be as good as a known one.
        self._near = client.formulation.fit != "restriction" and not worst_case
        self._model: tuple[Plan | None, Selection] | None = None

    def can_be_counted(self) -> bool:
        """Say whether the model in which to improve on the best plan is within a solver's range."""
        try:
            data = self._priced().data
        except OverflowError:
            return False
        return largest_number(self._client.formulation, data) <= self._client.backend.largest

    def make(self, method: Method, limits: Limits) -> Plan | None:
        """Make the calls within limits, which they share, and add their plans to those at hand.

        Return the plan of the part to execute as it stands, for `prb`; None for other methods.
        """
        whole, extended = self.part.whole, self.part.extended
        if method in ("list", "prb"):
            _, (answer, call) = self._ask(self.plans.best, limits)
            self.made.append(call)
            plan = answer.plan
            self.solved = plan is not None
            if method == "prb" or plan is None:
                return plan
            # List scheduling never starts a job later than planned, so it often gains over the plan
            # itself, which is added as it stands if it binds all nodes.
            decoded = [extended(plan)]
            if self._client.formulation.binds == "plan":
                begun = _begun_at_once(plan, self.part.model.data)
                decoded.append(extended(begun, as_planned=True))
            for found in decoded:
                whole.add(found, even=True)
            return None
        if method == "best":
            # A model that was too much for the solver is not followed by another one like it.
            for part in LEVELS if self.plans.objective.moves else (1.0,):
                goes_on, proved = self._improve(self.plans.best, share(limits, part))
                if proved or not goes_on:
                    break
        else:
            # Fixed shares, so that a plan's result does not depend on how fast others were solved.
            equal = share(limits, 1 / (len(self.plans.at_hand) + 1))
            for hint in (*self.plans.at_hand, None):
                if self._improve(hint, equal)[1]:
                    break
        # The round needs a plan of the whole.
        if self.solved and not self.part.is_whole and self.plans.best is not None:
            whole.add(extended(self.plans.best))
        return None

    def _improve(self, hint: Plan | None, limits: Limits) -> tuple[bool, bool]:
        """Ask for a better plan, starting from one, and add it by list scheduling.

        Return whether it is better and the least of its model, and whether no plan is better than
        the incumbent.
        """
        plans, objective = self.plans, self.plans.objective
        asked, (answer, call) = self._ask(hint, limits)
        if answer.plan is None:
            self.made.append(call)
            return False, False
        self.solved = True
        better = plans.add(plans.planner.plan(in_planned_order(answer.plan), answer.plan))
        assert plans.best is not None and answer.objective is not None
        least = answer.status == "optimal"
        # A better plan moves λ, and with it the model: what was least there proves nothing
        # here.
        ends = least and not (objective.moves and better)
        proved = ends and asked.data.cost(plans.best.starts) <= answer.objective
        if objective.moves:
            # The least cost at λ is not the least λ, nor is its bound one of λ.
            call = call._replace(objective=plans.value(answer.plan), bound=None)
            if least and not proved:
                call = call._replace(status="feasible")
        self.made.append(call)
        return better and least, proved

    def _ask(
        self, hint: Plan | None, limits: Limits
    ) -> tuple[Selection, tuple[Answer, SolverCall]]:
        """Ask about the model in which to improve on the best plan; return it and the answer."""
        try:
            model = self._priced()
        except OverflowError as error:
            return self.part.model, _overflow(self.part.model, error)
        # A smaller model: starts and horizon that only worse plans need are cut off.
        if hint is not None and self._near:
            model = model.near(hint.starts)
        return model, self._client.ask(model, limits, hint)

    def _priced(self) -> Selection:
        """Return the part at its target; raises OverflowError where it cannot be."""
        target = self.plans.target()
        if target.specific is None:
            return self.part.model
        # Building a model takes longer than many a solve, so it is kept until the incumbent
        # changes.
        if self._model is None or self._model[0] is not self.plans.best:
            self._model = self.plans.best, self.part.model.repriced(target)
        return self._model[1]


def _begun_at_once(plan: Plan, data: ModelData) -> Plan:
    """Return the plan moved to begin now where nothing runs, so that it cannot put all jobs off."""
    # A plan can only be moved as a whole where room does not change by itself: ends of running
    # jobs, offers of shared resources and outages stay where they are.
    offers = data.shared_resources is not None and len(data.shared_resources.since) > 1
    if len(data.allocated_until) or offers or data.outages is not None or not len(plan.starts):
        return plan
    return plan._replace(starts=plan.starts - plan.starts.min())


@dataclass
class CpImprover:
    """Has a solver look for plans that are better than those at hand.

    No solver is called where the incumbent starts everything now, or nothing can. After a round in
    which no call brought a plan, the next one is about half as many jobs, the first by priority,
    until one does. A plan of some jobs is followed by the others in the order of the incumbent.

    Attributes
    ----------
    largest_model
        Maximum number of decision variables. Models with more, or with numbers that are too large
        for the solver, get fewer jobs.
    search
        Finds one more initial plan; None: no search.
    """

    client: SolverClient
    largest_model: int
    limits: Limits
    method: Method
    search: OrderSearch | None = None
    _length: int | None = field(default=None, init=False)

    def improve(self, given: PlanningRound) -> Improved:
        """Add the solver's plans to those of a round."""
        # Before the calls: the plan found is a warm start, and the incumbent if the solver finds
        # nothing.
        if self.search is not None and given.plans.has_to_wait:
            given.plans.add(self.search.plan(given))
        try:
            calls = self._calls(given)
        except OverflowError as error:
            self._halve(given, given.selection)
            return Improved(fallback=True, solver=_overflow(given.selection, error)[1])
        # Nothing to improve is no failure: the next round may model all jobs again.
        if calls is None:
            self._length = None
            return Improved()
        plan = calls.make(self.method, self.limits)
        if calls.solved:
            self._length = None
        else:
            self._halve(given, calls.part.model)
        return Improved(
            None if plan is None else ExecutedPlan(calls.part.model, plan),
            anew=plan is not None,
            fallback=not calls.solved,
            solver=together(calls.made),
        )

    def _halve(self, given: PlanningRound, asked: Selection) -> None:
        """Halve the number of jobs for the next round."""
        most = self._length or given.options.length
        self._length = max(min(most, len(asked.jobs)) // 2, 1)

    def _calls(self, given: PlanningRound) -> Calls | None:
        """Return the calls about as many jobs as are within limits; None if no plan can be better.

        Raises OverflowError where even the objective of one job is too large.
        """
        length = self._length or given.options.length
        while given.plans.has_to_wait:
            try:
                return self._calls_about(given, length)
            except OverflowError:
                if length == 1:
                    raise
                # Halving, not one job less: each try builds the data of a model.
                length = min(length, len(given.selection.jobs)) // 2
        return None

    def _calls_about(self, given: PlanningRound, length: int) -> Calls | None:
        """Return the calls about the first jobs, if they are within limits or about one job."""
        whole, options = given.selection, given.options
        model: Selection | None = whole
        if length < len(whole.jobs) or options.largest != whole.largest:
            options = options._replace(length=length)
            model = select(given.problem, whole.jobs, options, given.objective.cost_of)
        if model is None:
            return None
        if length > 1 and self.client.formulation.variables(model.data) > self.largest_model:
            raise OverflowError("too many variables")
        calls = Calls(Part(given.plans, model), self.client, worst_case=options.worst_case)
        # The call about one job is made all the same, so that the record says `overflow`.
        if length > 1 and not calls.can_be_counted():
            raise OverflowError("too large numbers")
        return calls if calls.plans.has_to_wait else None
