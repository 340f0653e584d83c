"""The solver calls of a round: their warm starts, and the use of their answers."""

from typing import Literal, NamedTuple

from hpcsched.dispatching.cp.part import Part
from hpcsched.dispatching.cp.solver_client import (
    SolverClient,
    SolveResult,
    in_planned_order,
    overflow_result,
)
from hpcsched.dispatching.cp.solver_limits import Limits, share
from hpcsched.dispatching.decision import SolverCall
from hpcsched.dispatching.planning.plan import Plan
from hpcsched.dispatching.planning.selection import Selection

LEVELS = (0.7, 0.2, 0.1)
"""Shares of a round's limits for one model after another, where a better plan makes another.

Most comes of the first: each takes its time to build, and few find still better plans.
"""

Method = Literal["list", "prb", "best", "each"]


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

    Attributes
    ----------
    made
        Records of the calls.
    solved
        Whether some call brought a plan.
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
            return self._client.can_count(self._priced().data)
        except OverflowError:
            return False

    def make(self, method: Method, limits: Limits) -> Plan | None:
        """Make the calls within limits, which they share, and add their plans to those at hand.

        Parameters
        ----------
        method
            The method, see `Calls`.
        limits
            Limits of all calls together.

        Returns
        -------
        Plan or None
            The plan of the part to execute as it stands, for `prb`; None for other methods.
        """
        if method in ("list", "prb"):
            plan = self._once(limits)
            if method == "prb" or plan is None:
                return plan
            self._add_decoded(plan)
            return None
        if method == "best":
            self._improve_best(limits)
        else:
            self._improve_each(limits)
        # The calls were about a part of the jobs, or in longer steps: the round needs a plan of the
        # whole.
        if self.solved and not self.part.is_whole and self.plans.best is not None:
            self.part.whole.add(self.part.extended(self.plans.best))
        return None

    def _once(self, limits: Limits) -> Plan | None:
        """Ask for a plan, starting from the best; return it as the solver has it."""
        _, (answer, call) = self._ask(self.plans.best, limits)
        self.made.append(call)
        self.solved = answer.plan is not None
        return answer.plan

    def _add_decoded(self, plan: Plan) -> None:
        """Add a plan as list scheduling carries it out and, if it binds all nodes, as it stands."""
        # List scheduling never starts a job later than planned, so it often gains over the plan
        # itself.
        decoded = [self.part.extended(plan)]
        if self._client.formulation.binds == "plan":
            begun = _begun_at_once(plan, self.part.model)
            decoded.append(self.part.extended(begun, as_planned=True))
        for found in decoded:
            self.part.whole.add(found, even=True)

    def _improve_best(self, limits: Limits) -> None:
        """Improve on the best plan, and again on the result if that is another model.

        A model that was too much for the solver is not followed by another one like it.
        """
        for part in LEVELS if self.plans.objective.moves else (1.0,):
            found = self._improve(self.plans.best, share(limits, part))
            if found.proved or not (found.better and found.least):
                return

    def _improve_each(self, limits: Limits) -> None:
        """Improve on each of the list plans, and plan from nothing, unless the best is proved."""
        # Fixed shares, so that a plan's result does not depend on how fast the others were solved.
        equal = share(limits, 1 / (len(self.plans.at_hand) + 1))
        for hint in (*self.plans.at_hand, None):
            if self._improve(hint, equal).proved:
                return

    def _improve(self, hint: Plan | None, limits: Limits) -> "_Found":
        """Ask for a better plan, starting from one, and add it by list scheduling."""
        plans, objective = self.plans, self.plans.objective
        asked, (answer, call) = self._ask(hint, limits)
        if answer.plan is None:
            self.made.append(call)
            return _Found()
        self.solved = True
        better = plans.add(plans.planner.plan(in_planned_order(answer.plan), answer.plan))
        assert plans.best is not None and answer.objective is not None
        least = answer.status == "optimal"
        # A better plan moves λ, and with it the model: what was least there proves nothing
        # here.
        ends = least and not (objective.moves and better)
        proved = ends and asked.data.cost(plans.best.starts) <= answer.objective
        if objective.moves and least and not proved:
            call = call._replace(status="feasible")  # the least cost at λ, not the least λ
        value, bound = objective.reported(asked, answer.plan.starts, answer.objective, answer.bound)
        self.made.append(call._replace(objective=value, bound=bound))
        return _Found(better, least, proved)

    def _ask(self, hint: Plan | None, limits: Limits) -> tuple[Selection, SolveResult]:
        """Ask about the model in which to improve on the best plan; return it and the answer."""
        try:
            model = self._priced()
        except OverflowError as error:
            return self.part.model, overflow_result(self.part.model, error)
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


class _Found(NamedTuple):
    """The result of a call.

    Attributes
    ----------
    better
        A better plan was found.
    least
        The plan is the least of its model.
    proved
        No plan is better than the incumbent.
    """

    better: bool = False
    least: bool = False
    proved: bool = False


def _begun_at_once(plan: Plan, selection: Selection) -> Plan:
    """Return the plan moved to begin now where nothing runs, so that it cannot put all jobs off."""
    data = selection.data
    # A plan can only be moved as a whole where room does not change by itself: ends of running
    # jobs, offers of shared resources and outages stay where they are.
    changes = data.shared_resources is not None and len(data.shared_resources.since) > 1
    changes = changes or data.outages is not None
    if len(data.allocated_until) or changes or not len(plan.starts):
        return plan
    return plan._replace(starts=plan.starts - plan.starts.min())
