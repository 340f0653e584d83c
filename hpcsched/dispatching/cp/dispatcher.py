"""The dispatcher that plans with a solver."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.cp.asking import Asked, Asker, not_asked
from hpcsched.dispatching.cp.backends.backend import Backend
from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.cp.guard import Solver
from hpcsched.dispatching.cp.limits import Limits
from hpcsched.dispatching.cp.modelling import Models
from hpcsched.dispatching.cp.part import Part
from hpcsched.dispatching.decision import NOTHING, Decision, Start
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.heuristic.workspace import open_workspace
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.carrying_out import start_first, starts_now
from hpcsched.dispatching.planning.explaining import CarriedOut, with_reasons
from hpcsched.dispatching.planning.list_plans import ListPlanner, orders_of, weighted_order
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Jobs, Selection, Wanted
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob

Decode = Literal["list", "prb"]


class CpSettings(NamedTuple):
    """How a CP dispatcher goes about a round.

    - `jobs`, `length` (the papers' m), `spare_nodes`, `overdue`: see `Wanted`.
    - `largest_model`: at most so many decision variables; the solver is asked about fewer jobs
      beyond.
    - `orders`: list plans in these orders are at hand before the solver is asked; none: the solver
      starts from nothing, and what it says is done.
    - `limits`; `guard`: seconds after which a call is broken off from outside (None: never).
    - `decode`: how a model that says nothing of nodes is carried out (see `CpDispatcher`).
    - `worst_case_horizon`: whether the horizon is the sum of all run times, as in the papers.
    """

    jobs: Jobs
    length: int
    limits: Limits
    orders: tuple[QueueOrder, ...]
    spare_nodes: float | None = 1.5
    overdue: bool = True
    largest_model: int = 20_000
    guard: float | None = 60.0
    decode: Decode = "list"
    worst_case_horizon: bool = False


@dataclass
class CpDispatcher:
    """Plans the first jobs by priority with a solver, and starts those that the plan starts now.

    List plans in several orders, and one by area over weight, come first: the best of them by the
    objective is the solver's hint, what its plan is compared with, and the answer where the solver
    has none. No solver is asked when everything starts now or nothing can.

    A plan of a model that binds no nodes, or those of what starts now alone, is carried out by
    list scheduling all jobs in the order of their planned starts, what has nodes first; so is any
    other plan, beside it as it stands. The best by the objective is done. With `decode: prb`
    instead, jobs that the model starts now are put on nodes in order of priority by the allocator,
    and those for which there is no room wait (HCP'19; Galleguillos, thesis 2020, section 2.3).

    After a round without an answer the solver is asked about half as many jobs, the first by
    priority, until there is one. List plans are of all jobs still; a solver's plan of fewer is
    followed by the others in the order of the best list plan.

    Where nothing runs and the plan starts nothing, the first job by priority is started, so that
    none waits for ever.
    """

    formulation: Formulation
    backend: Backend
    solver: Solver
    priority: QueueOrder
    cost_of: Callable[[Sequence[WaitingJob], int], PlannedCost]
    allocator: Allocator
    settings: CpSettings
    _length: int = field(init=False)

    def __post_init__(self) -> None:
        self._length = self.settings.length

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        decision, carried_out = self._plan(problem)
        if not decision.starts and not problem.running:
            starts = start_first(problem, self.priority.sort(problem), self.allocator)
            decision = decision._replace(starts=starts, fallback=decision.fallback or bool(starts))
        return with_reasons(problem, decision, carried_out, self.allocator)

    def _plan(self, problem: DispatchingProblem) -> tuple[Decision, CarriedOut | None]:
        """Return what a plan starts now, and the plan, if there was anything to plan."""
        settings = self.settings
        by_priority = self.priority.sort(problem)
        whole = self._models.whole(problem, by_priority, self._wanted, self.cost_of)
        if whole is None:
            return NOTHING, None
        planner = ListPlanner(whole.data)
        at_hand = [planner.plan(order) for order in self._orders(problem, whole)]
        best = _best(at_hand, whole)
        asked = self._ask(problem, whole, planner, at_hand)
        if asked is None:
            self._length = settings.length
            plan = best or planner.plan(range(len(whole.jobs)))
            return Decision(self._starts(problem, whole, plan)), CarriedOut(whole, plan)
        part, (answer, call) = asked
        if answer.plan is None:
            self._length = max(min(self._length, len(part.model.jobs)) // 2, 1)
            plan = best or planner.plan(range(len(whole.jobs)))
            carry_out = self._starts if settings.overdue else self._place
            starts = carry_out(problem, whole, plan)
            return Decision(starts, fallback=True, solver=call), CarriedOut(whole, plan)
        self._length = settings.length
        if settings.decode == "prb":
            starts = self._place(problem, part.model, answer.plan)
            return Decision(starts, solver=call), CarriedOut(part.model, answer.plan)
        plans = [part.extended(answer.plan, best), *at_hand]
        if self.formulation.binds == "plan":
            begun = _begun_at_once(answer.plan, part.model)
            plans.insert(0, part.extended(begun, best, as_planned=True))
        chosen = _best(plans, whole)
        assert chosen is not None
        starts = self._starts(problem, whole, chosen)
        return Decision(starts, solver=call), CarriedOut(whole, chosen)

    @property
    def _models(self) -> Models:
        backend = self.backend
        return Models(
            self.formulation,
            self.settings.largest_model,
            backend.largest,
            backend.largest_objective,
        )

    @property
    def _wanted(self) -> Wanted:
        settings = self.settings
        return Wanted(
            settings.jobs,
            settings.length,
            settings.spare_nodes,
            overdue=settings.overdue,
            worst_case=settings.worst_case_horizon,
        )

    def _orders(self, problem: DispatchingProblem, selection: Selection) -> Iterator[Sequence[int]]:
        """Yield the orders of the list plans, as numbers of the selected jobs."""
        if not self.settings.orders:
            return
        yield from orders_of(problem, selection, self.settings.orders)
        yield weighted_order(selection.data).tolist()

    def _ask(
        self,
        problem: DispatchingProblem,
        whole: Selection,
        planner: ListPlanner,
        at_hand: Sequence[Plan],
    ) -> tuple[Part, Asked] | None:
        """Ask the solver about the whole or a part of it; None where nothing is to be asked."""
        if _starts_all(_best(at_hand, whole)):
            return None
        wanted = self._wanted._replace(length=self._length)
        try:
            model = next(self._models.selections(problem, whole, wanted, self.cost_of), None)
        except OverflowError as error:
            return Part(whole, planner, whole), not_asked(whole, error)
        if model is None:
            return None
        part = Part(whole, planner, model)
        hint = _best([part.restricted(plan) for plan in at_hand], model)
        if _starts_all(hint):
            return None
        exact = self.formulation.fit == "restriction" or self.settings.worst_case_horizon
        if hint is not None and not exact:
            model = model.near(hint.starts)
        asker = Asker(self.formulation, self.backend, self.solver, self.settings.guard)
        return part, asker.ask(model, self.settings.limits, hint)

    def _starts(
        self, problem: DispatchingProblem, selection: Selection, plan: Plan
    ) -> tuple[Start, ...]:
        """Return the starts of a plan's jobs that start now, on the plan's nodes."""
        return starts_now(problem, selection, plan, self.allocator)

    def _place(
        self, problem: DispatchingProblem, selection: Selection, plan: Plan
    ) -> tuple[Start, ...]:
        """Return the starts of what starts now and finds room, placed in order of priority."""
        workspace = open_workspace(problem, self.allocator)
        now = (selection.jobs[i] for i in (plan.starts == 0).nonzero()[0])
        return tuple(Start(job.job_id, workspace.place(job)) for job in now if workspace.fits(job))


def _best(plans: Sequence[Plan], selection: Selection) -> Plan | None:
    """Return the first of the plans that cost least; None if there is none."""
    return min(plans, key=lambda plan: selection.data.cost(plan.starts), default=None)


def _starts_all(plan: Plan | None) -> bool:
    """Say whether there is a plan and it starts all jobs now, so that there is no better one."""
    return plan is not None and not plan.starts.any()


def _begun_at_once(plan: Plan, selection: Selection) -> Plan:
    """Return the plan moved to begin now where nothing runs, so that it cannot put all off."""
    data = selection.data
    changes = data.pools is not None and len(data.pools.since) > 1
    changes = changes or data.outages is not None
    if len(data.held_until) or changes or not len(plan.starts):
        return plan
    return plan._replace(starts=plan.starts - plan.starts.min())
