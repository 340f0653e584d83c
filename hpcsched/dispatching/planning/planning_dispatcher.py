"""The planning dispatcher: list plans, and an improver that looks for better ones."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import ClassVar

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.planning.model_building import select
from hpcsched.dispatching.planning.plan_execution import (
    ExecutedPlan,
    Filling,
    place_all,
    start_first,
    starts_now,
    with_reasons,
)
from hpcsched.dispatching.planning.plan_improver import (
    Improved,
    Improver,
    PlanningRound,
    orders_of,
    weighted_order,
)
from hpcsched.dispatching.planning.search_objective import SearchObjective
from hpcsched.dispatching.planning.selection import LARGEST, Selection, SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob, waits_for_outage
from hpcsched.dispatching.rules.core_calls import Workspace, open_workspace
from hpcsched.dispatching.rules.orders import QueueOrder, sorted_queue


def nothing_fits(problem: DispatchingProblem, workspace: Workspace) -> bool:
    """Say whether no queued job has room for its units now."""
    return all(job.units > workspace.units_that_fit(job) for job in problem.queue)


def all_fit(problem: DispatchingProblem, workspace: Workspace, options: SelectionOptions) -> bool:
    """Say whether all queued jobs have room together now, on any nodes.

    Every list plan starts them all then. The answer is exact for counted units; for any others it
    is False.
    """
    if len(problem.queue) > options.length or problem.free_units is None:
        return False
    units = sum(job.units for job in problem.queue)
    return units <= workspace.units_that_fit(problem.queue[0])


@dataclass
class PlanningDispatcher:
    """Plans the first jobs by priority, and starts those that the best plan starts now.

    List plans are made in several orders. An improver looks for a plan that is better by the
    search objective; where it has none, the best list plan is carried out. Where nothing runs, the
    plan starts nothing, and no job waits for the end of an outage, the first job by priority for
    which there is room is started, so that none waits for ever. Else jobs beyond the plan start now
    where that delays no planned job.

    Attributes
    ----------
    improver
        Looks for better plans; None: the best list plan is carried out.
    allocator
        Places jobs where the plan does not say.
    options
        Which jobs and nodes are planned. `largest` may be exceeded where no plan can do with it.
    weighted
        Whether there is a list plan by area over weight besides them.
    fill
        Whether jobs beyond the plan start at all; otherwise they wait until they are planned.
    strict
        Whether the improver's plans alone are carried out, as they keep to constraints that list
        plans do not know. Where there is none, no job starts beside running ones.
    """

    objective: SearchObjective
    priority: QueueOrder
    improver: Improver | None
    allocator: Allocator
    options: SelectionOptions
    orders: tuple[QueueOrder, ...]
    weighted: bool
    fill: bool = True
    strict: bool = False
    plans_past_outages: ClassVar[bool] = True
    _filling: Filling = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Create the state that is kept between rounds."""
        self._filling = Filling(self.allocator)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        # Most rounds of a busy system end here, without sorting the queue or building a model.
        workspace = open_workspace(problem, self.allocator)
        if nothing_fits(problem, workspace):
            return with_reasons(problem, NOTHING, None, self.allocator)
        by_priority = sorted_queue(self.priority, problem)
        if not (self.strict or problem.explain) and all_fit(problem, workspace, self.options):
            starts = place_all(by_priority, workspace)
            self.objective.add(problem, starts)
            return Decision(starts)
        decision, executed = self._plan(problem, by_priority)
        # A plan that waits for the end of an outage is asked for again then.
        waits = executed is not None and any(waits_for_outage(problem, j) for j in problem.queue)
        if not decision.starts and not problem.running and not waits:
            starts = start_first(problem, by_priority, self.allocator)
            decision = decision._replace(starts=starts, fallback=decision.fallback or bool(starts))
        # Filling comes last: what it starts must not delay a planned job.
        elif self.fill and executed is not None:
            more = self._filling.starts_beside(problem, by_priority, executed, decision.starts)
            decision = decision._replace(starts=decision.starts + more)
        self.objective.add(problem, decision.starts)
        return with_reasons(problem, decision, executed, self.allocator)

    def _plan(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> tuple[Decision, ExecutedPlan | None]:
        """Return the decision of a plan, and the plan, if there was anything to plan."""
        begun = self.begin(problem, by_priority)
        if begun is None:
            return NOTHING, None
        improved = Improved() if self.improver is None else self.improver.improve(begun)
        if self.strict and improved.executed is None:
            return Decision((), fallback=improved.fallback, solver=improved.solver), None
        executed = improved.executed or begun.best()
        # A plan that leaves out running jobs that are overdue may have jobs on their nodes, and one
        # that counts devices as one amount, on nodes that have no single one for a unit.
        anew = improved.anew or not self.options.overdue or problem.system.devices is not None
        starts = starts_now(problem, executed, self.allocator, anew=anew)
        return Decision(starts, fallback=improved.fallback, solver=improved.solver), executed

    def begin(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> PlanningRound | None:
        """Return a round with its list plans, to be improved on; None where no job can start."""
        selection = self._select(problem, by_priority)
        if selection is None:
            return None
        orders: list[Sequence[int]] = list(orders_of(problem, selection, self.orders))
        if self.weighted:
            weights = selection.cost.weights.sum(axis=0)
            orders.append(weighted_order(selection.data, weights).tolist())
        return PlanningRound(problem, self.options, self.objective, selection, orders)

    def _select(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> Selection | None:
        """Return the selection to plan; None where no job can start now.

        No limit of a solver makes it smaller: where a solver cannot count its objective, it is
        still good for list plans.
        """
        # The second try is for list plans alone; the improver finds out that it cannot be solved.
        for largest in (self.options.largest, LARGEST):
            options = self.options._replace(largest=largest)
            with suppress(OverflowError):
                return select(problem, by_priority, options, self.objective.cost_of)
        return None
