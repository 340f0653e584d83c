"""The dispatcher that searches orders."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.heuristic.orders import QueueOrder
from hpcsched.dispatching.planned_cost import PlannedCost, SpecificCost
from hpcsched.dispatching.planning.carrying_out import start_first, starts_now
from hpcsched.dispatching.planning.explaining import CarriedOut, with_reasons
from hpcsched.dispatching.planning.list_plans import ListPlanner, orders_of, weighted_order
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.node_choice import spare_where_much
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Selection, Wanted, select
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.search.curve_kernels import Curves
from hpcsched.dispatching.search.order_kernels import Effort, search
from hpcsched.dispatching.search.pursuit import Pursued
from hpcsched.dispatching.search.segment_kernels import Content, Segments
from hpcsched.system.system import IntArray

LARGEST = 1 << 62
"""What an objective in whole numbers may amount to; here it only ranks jobs."""


class SearchSettings(NamedTuple):
    """How a round is gone about.

    `length`, `spare_nodes`: see `Wanted`. `orders`: the plans to begin with. `budget`: see
    `Effort`.
    """

    length: int
    spare_nodes: float | None
    orders: tuple[QueueOrder, ...]
    budget: int


@dataclass
class OrderSearch:
    """Searches for the order of the queue whose list plan costs least; starts what it starts.

    Of a long queue the first jobs by `priority` are planned; None: those that the aim would serve
    first.
    """

    priority: QueueOrder | None
    aim: Pursued
    allocator: Allocator
    settings: SearchSettings
    random: IntArray
    _last: dict[int, int] = field(default_factory=dict)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the jobs to start now."""
        by_priority = (self.priority or self.aim).sort(problem)
        carried_out = self._search(problem, by_priority)
        decision = NOTHING
        if carried_out is not None:
            decision = Decision(starts_now(problem, *carried_out, self.allocator))
        if not decision.starts and not problem.running:
            starts = start_first(problem, by_priority, self.allocator)
            decision = Decision(starts, fallback=bool(starts))
        return with_reasons(problem, decision, carried_out, self.allocator)

    def _search(
        self, problem: DispatchingProblem, by_priority: Sequence[WaitingJob]
    ) -> CarriedOut | None:
        """Return the best plan found; None where no job can start now."""
        settings = self.settings
        # Compiled code has the cost itself, so the model's data need no curves.
        spare = spare_where_much(settings.spare_nodes, problem)
        wanted = Wanted("all", settings.length, spare, largest=LARGEST, curves=False, counted=True)
        selection = select(
            problem, by_priority, wanted, lambda jobs: self.aim.cost(jobs, problem.now)
        )
        if selection is None:
            return None
        plan = self._plan(problem, selection)
        now = (plan.starts == 0).nonzero()[0]
        self.aim.add([selection.jobs[i] for i in now], problem.now)
        return CarriedOut(selection, plan)

    def _plan(self, problem: DispatchingProblem, selection: Selection) -> Plan:
        """Return the plan of the best order found."""
        data, jobs = selection.data, selection.jobs
        planner = ListPlanner(data)
        best = np.empty(len(jobs), dtype=np.int64)
        search(
            np.array(self._orders(problem, selection), dtype=np.int64),
            content_of(data),
            Segments(*planner.segments()),
            curves_of(selection.cost, data.run_times, self.aim.pursuit.patience),
            Effort(self.settings.budget, self.aim.pursuit.bias),
            self.random,
            best,
        )
        self._last = {jobs[i].job_id: place for place, i in enumerate(best.tolist())}
        return planner.plan(best)

    def _orders(self, problem: DispatchingProblem, selection: Selection) -> list[Sequence[int]]:
        """Return the orders to begin with, as numbers of the selected jobs."""
        orders: list[Sequence[int]] = [*orders_of(problem, selection, self.settings.orders)]
        orders.append(weighted_order(selection.data).tolist())
        if self.aim.pursuit.carry:
            last, unknown = self._last, len(self._last)
            places = [last.get(job.job_id, unknown) for job in selection.jobs]
            orders.append(sorted(range(len(places)), key=places.__getitem__))
        return orders


def content_of(data: ModelData) -> Content:
    """Return what compiled code wants to know of jobs and nodes."""
    alone = data.pools is None and data.outages is None
    pooled = alone and data.node_count == data.type_count == 1
    jobs = data.units, data.requests, data.run_times, data.room
    return Content(pooled, *jobs, data.capacity, data.totals, data.pool_draws)


def curves_of(cost: PlannedCost, run_times: IntArray, patience: float) -> Curves:
    """Return what compiled code wants to know of a cost; run times in seconds, `[J]`."""
    none = np.zeros(len(run_times))
    specific = cost.specific or SpecificCost(0.0, 0.0, none, none)
    return Curves(
        np.ascontiguousarray(cost.weights, dtype=np.float64),
        np.ascontiguousarray(cost.free, dtype=np.float64),
        float(cost.makespan),
        float(patience),
        float(specific.alpha),
        float(specific.level),
        specific.amounts,
        specific.waits,
        run_times.astype(np.float64),
    )
