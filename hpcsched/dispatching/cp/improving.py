"""The dispatchers `cp` and `best-of`: list plans that a solver makes better.

Both plan with pooled resources, for any objective that plans can be made for: the schedulers of
Goponenko et al. (DEBS 2024, sections 2.3, 4, 5.2 and 5.4) with a solver of one's choice.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.cp.aims import Aim
from hpcsched.dispatching.cp.asking import Asker, in_planned_order, not_asked, together
from hpcsched.dispatching.cp.limits import Limits, share
from hpcsched.dispatching.cp.modelling import Models
from hpcsched.dispatching.cp.part import Part
from hpcsched.dispatching.decision import NOTHING, Decision, SolverCall
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.carrying_out import start_first, starts_now
from hpcsched.dispatching.planning.explaining import CarriedOut, with_reasons
from hpcsched.dispatching.planning.list_plans import ListPlanner, orders_of, weighted_order
from hpcsched.dispatching.planning.node_choice import spare_where_much
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Jobs, Selection, Wanted
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.search.dispatcher import content_of, curves_of
from hpcsched.dispatching.search.order_kernels import Effort
from hpcsched.dispatching.search.order_kernels import search as search_orders
from hpcsched.dispatching.search.segment_kernels import Segments
from hpcsched.system.system import IntArray

LEVELS = (0.7, 0.2, 0.1)
"""The parts of a round's limits for one model after another, where a better plan makes another.

Most comes of the first: each takes its time to build, and few find still better plans.
"""

Improve = Literal["best", "each"]


class ImprovingSettings(NamedTuple):
    """How a round is gone about.

    - `jobs`, `length`, `spare_nodes`: see `Wanted`.
    - `orders`: of the list plans; `weighted`: whether there is one by area over weight beside them.
    - `improve`: the best of them, or each of them and then one from nothing.
    - `limits`: of all calls of a round together.
    - `effort`: of a search for the best order, whose plan is one more; None: there is no search.
    """

    jobs: Jobs
    length: int
    spare_nodes: float | None
    orders: tuple[QueueOrder, ...]
    weighted: bool
    improve: Improve
    limits: Limits
    effort: Effort | None = None


@dataclass
class Improving:
    """Plans by list scheduling in several orders, has a solver improve on it, and starts the best.

    What a solver says is carried out by list scheduling in the order of its planned starts: on
    pooled resources no job starts later by it, and elsewhere this finds the nodes. The best by the
    aim of all plans is done, so no decision is worse than the best list plan. `asker` is None where
    no solver is asked; neither is one where the best list plan starts everything now.

    After a round in which no call brought a plan the solver is asked about half as many jobs, the
    first by priority, until one does. List plans are of all jobs still; a solver's plan of fewer is
    followed by the others in the order of the best list plan.

    Where nothing runs and the plan starts nothing, the first job by priority is started.
    """

    aim: Aim
    models: Models
    asker: Asker | None
    priority: QueueOrder
    allocator: Allocator
    settings: ImprovingSettings
    random: IntArray = field(default_factory=lambda: np.ones(1, dtype=np.int64))
    _length: int = field(init=False)

    def __post_init__(self) -> None:
        self._length = self.settings.length

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        by_priority = self.priority.sort(problem)
        decision, carried_out = self._decide(problem, by_priority)
        if not decision.starts and not problem.running:
            starts = start_first(problem, by_priority, self.allocator)
            decision = decision._replace(starts=starts, fallback=decision.fallback or bool(starts))
        started = {start.job_id for start in decision.starts}
        self.aim.add([job for job in problem.queue if job.job_id in started], problem.now)
        return with_reasons(problem, decision, carried_out, self.allocator)

    def _decide(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> tuple[Decision, CarriedOut | None]:
        """Return what a plan starts now, and the plan, if there was anything to plan."""
        lists = self._begin(problem, by_priority)
        if lists is None:
            return NOTHING, None
        asked = self._improve(problem, lists)
        unsolved = asked is not None and bool(asked.calls) and not asked.solved
        if asked is not None and unsolved:
            self._length = max(min(self._length, len(asked.selection.jobs)) // 2, 1)
        else:
            self._length = self.settings.length
        plan = lists.best or lists.planner.plan(range(len(lists.selection.jobs)))
        starts = starts_now(problem, lists.selection, plan, self.allocator)
        call = None if asked is None else together(asked.calls)
        return Decision(starts, fallback=unsolved, solver=call), CarriedOut(lists.selection, plan)

    def _wanted(self, problem: DispatchingProblem, length: int) -> Wanted:
        spare = spare_where_much(self.settings.spare_nodes, problem)
        return Wanted(self.settings.jobs, length, spare, curves=False)

    def _begin(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> "_Search | None":
        """Return list plans of all jobs; None where no job can start now."""
        settings = self.settings
        wanted = self._wanted(problem, settings.length)
        selection = self.models.whole(problem, by_priority, wanted, self.aim.cost)
        if selection is None:
            return None
        planner = ListPlanner(selection.data)
        orders = list(self._orders(problem, selection))
        lists = _Search(self.aim, selection, planner, [planner.plan(o) for o in orders])
        if settings.effort is not None and orders and lists.has_to_wait:
            lists.add(planner.plan(self._best_order(lists, orders, settings.effort)))
        return lists

    def _improve(self, problem: DispatchingProblem, lists: "_Search") -> "_Search | None":
        """Ask the solver for plans better than lists, and add the best of them to these.

        Return the search in which it was asked, which is that of the lists where their model is
        within all limits; None where no solver is asked.
        """
        if self.asker is None or not lists.has_to_wait:
            return None
        try:
            found = self._part(problem, lists)
        except OverflowError as error:
            lists.calls.append(not_asked(lists.selection, error).call)
            return lists
        if found is None or not found[1].has_to_wait:
            return None
        part, search = found
        if self.settings.improve == "best":
            _improve_best(search, self.asker, self.settings.limits)
        else:
            _improve_each(search, self.asker, self.settings.limits)
        if not part.is_whole and search.solved and search.best is not None:
            lists.add(part.extended(search.best, lists.best))
        return search

    def _part(self, problem: DispatchingProblem, lists: "_Search") -> "tuple[Part, _Search] | None":
        """Return what to ask about, in the shortest steps in which the solver can count its model.

        None where none of these jobs can start now.
        """
        whole, found = lists.selection, None
        wanted = self._wanted(problem, self._length)
        for model in self.models.selections(problem, whole, wanted, self.aim.cost):
            part, search = Part(whole, lists.planner, model), lists
            if not part.is_whole:
                plans = [part.restricted(plan) for plan in lists.at_hand]
                search = _Search(self.aim, model, part.planner, plans)
            found = part, search
            if search.can_be_counted(self.models):
                break
        return found

    def _best_order(
        self, search: "_Search", orders: Sequence[Sequence[int]], effort: Effort
    ) -> Sequence[int]:
        """Return the best order that compiled search finds, as `order-search` does."""
        selection, data = search.selection, search.selection.data
        best = np.empty(data.job_count, dtype=np.int64)
        search_orders(
            np.array(orders, dtype=np.int64),
            content_of(data),
            Segments(*search.planner.segments()),
            curves_of(search.target(), selection.starts_in_seconds(data.run_times), 0.0),
            effort,
            self.random,
            best,
        )
        return best.tolist()

    def _orders(self, problem: DispatchingProblem, selection: Selection) -> Iterator[Sequence[int]]:
        """Yield the orders of the list plans, as numbers of the selected jobs."""
        yield from orders_of(problem, selection, self.settings.orders)
        if self.settings.weighted:
            yield weighted_order(selection.data).tolist()


class _Search:
    """The plans of a round: those at hand, the best so far, and the calls that were made for it.

    `solved`: some call brought a plan; `least`: the last one brought the least of its model;
    `proved`: no plan is better than the best.
    """

    def __init__(
        self, aim: Aim, selection: Selection, planner: ListPlanner, plans: Sequence[Plan]
    ) -> None:
        self.aim = aim
        self.selection = selection
        self.planner = planner
        self.at_hand = list(plans)
        self._model: tuple[Plan | None, Selection] | None = None
        self.best = min(plans, key=self._value, default=None)
        self.calls: list[SolverCall] = []
        self.solved = False
        self.least = False
        self.proved = False

    @property
    def has_to_wait(self) -> bool:
        """Whether some job does in the best plan, so that there may be a better one."""
        return self.best is None or bool(self.best.starts.any())

    def add(self, plan: Plan) -> None:
        """Add a plan to those at hand."""
        self.at_hand.append(plan)
        if self.best is None or self._value(plan) < self._value(self.best):
            self.best = plan

    def can_be_counted(self, models: Models) -> bool:
        """Say whether the model in which to improve on the best plan is within a solver's range."""
        try:
            return models.can_count(self._priced().data)
        except OverflowError:
            return False

    def ask(self, asker: Asker, limits: Limits, hint: Plan | None) -> bool:
        """Have a solver look for a better plan, starting from one; say whether it has found one."""
        try:
            priced = self._priced()
        except OverflowError as error:
            self.calls.append(not_asked(self.selection, error).call)
            return False
        asked = priced if hint is None else priced.near(hint.starts)
        answer, call = asker.ask(asked, limits, hint)
        if answer.plan is None:
            self.calls.append(call)
            return False
        self.solved = True
        plan = self.planner.plan(in_planned_order(answer.plan), answer.plan)
        better = self.best is None or self._value(plan) < self._value(self.best)
        if better:
            self.best = plan
        best = self.best
        assert best is not None and answer.objective is not None
        self.least = answer.status == "optimal"
        ends = self.least and not (self.aim.moves and better)
        self.proved = ends and asked.data.cost(best.starts) <= answer.objective
        if self.aim.moves and answer.status == "optimal" and not self.proved:
            call = call._replace(status="feasible")  # the least at a level, not the least level
        objective, bound = self.aim.reported(
            asked, answer.plan.starts, answer.objective, answer.bound
        )
        self.calls.append(call._replace(objective=objective, bound=bound))
        return better

    def target(self) -> PlannedCost:
        """Return a cost by which what is better than the best plan costs less."""
        return self.aim.toward(self.selection, None if self.best is None else self.best.starts)

    def _priced(self) -> Selection:
        """Return the selection at its target; raises OverflowError where it cannot be."""
        target = self.target()
        if target.specific is None:
            return self.selection
        if self._model is None or self._model[0] is not self.best:
            self._model = self.best, self.selection.repriced(target)
        return self._model[1]

    def _value(self, plan: Plan) -> float:
        return self.aim.value(self.selection, plan.starts)


def _improve_best(search: _Search, asker: Asker, limits: Limits) -> None:
    """Improve on the best plan, and again on what came of it if that is another model.

    A model that was too much for the solver is not followed by another one like it.
    """
    for part in LEVELS if search.aim.moves else (1.0,):
        better = search.ask(asker, share(limits, part), search.best)
        if search.proved or not (better and search.least):
            return


def _improve_each(search: _Search, asker: Asker, limits: Limits) -> None:
    """Improve on each of the list plans, and plan from nothing, unless the best is proved."""
    equal = share(limits, 1 / (len(search.at_hand) + 1))
    for hint in (*search.at_hand, None):
        search.ask(asker, equal, hint)
        if search.proved:
            return
