"""The part of a round that is given to a solver, and the conversion of plans between the two."""

import numpy as np

from hpcsched.dispatching.cp.solver_client import in_planned_order
from hpcsched.dispatching.planning.list_plans import ListPlanner
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.plan_improver import Plans
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.system.system import IntArray


class Part:
    """The solver's model beside the whole selection of a round.

    The model is the whole, or the first of its jobs, with those of its nodes that they need, in
    steps that may be longer than the whole's second.

    Parameters
    ----------
    whole
        The plans of the round.
    model
        The selection that is modelled.

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
            plans = [self._restricted(plan, planner) for plan in whole.at_hand]
            self.plans = Plans(whole.objective, model, planner, plans)

    def _restricted(self, plan: Plan, planner: ListPlanner) -> Plan:
        """Return the list plan of the model in the order in which a plan of the whole starts it."""
        numbers = {job: i for i, job in enumerate(self._jobs.tolist())}
        return planner.plan(numbers[i] for i in in_planned_order(plan) if i in numbers)

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
        starts[self._jobs] = plan.starts * self.model.data.step
        columns = np.zeros(1, dtype=np.int64)
        if nodes is not None and self.model.nodes is not None:
            columns = np.searchsorted(nodes, self.model.nodes)
        placed = np.zeros((data.job_count, data.node_count), dtype=np.int64)
        placed[np.ix_(self._jobs, columns)] = plan.placed
        return Plan(starts, placed)
