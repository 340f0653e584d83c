"""The improver that calls a solver."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hpcsched.dispatching.cp.calls import Calls, Method
from hpcsched.dispatching.cp.part import Part
from hpcsched.dispatching.cp.solver_client import SolverClient, overflow_result, together
from hpcsched.dispatching.cp.solver_limits import Limits
from hpcsched.dispatching.planning.explaining import ExecutedPlan
from hpcsched.dispatching.planning.plan_improver import Improved, PlanningRound
from hpcsched.dispatching.planning.selection import Selection, select
from hpcsched.dispatching.planning.selection_options import SelectionOptions
from hpcsched.dispatching.search.improver import OrderSearch

STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""Seconds of a step, ascending; the first within the solver's range of numbers is used."""


@dataclass
class CpImprover:
    """Has a solver look for plans that are better than those at hand.

    No solver is called where the incumbent starts everything now, or nothing can. After a
    round in which no call brought a plan it is called about half as many jobs, the first by
    priority, until one does. A plan of some jobs is followed by the others in the order of the
    incumbent.

    Attributes
    ----------
    client
        The solver, and the formulation of its models.
    largest_model
        Maximum number of decision variables; larger models get fewer jobs.
    limits
        Limits of all calls of a round together.
    method
        The method of calls (see `Calls`).
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
            return Improved(fallback=True, solver=overflow_result(given.selection, error).call)
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
        self._length = max(min(self._most(given), len(asked.jobs)) // 2, 1)

    def _most(self, given: PlanningRound) -> int:
        """Return the maximum number of jobs in a model."""
        return self._length or given.options.length

    def _calls(self, given: PlanningRound) -> Calls | None:
        """Return the calls to make, about models in the shortest steps that can be counted.

        None where no plan can be better. Raises OverflowError where no steps are long enough.
        """
        calls = None
        if given.plans.has_to_wait:
            # Steps become longer until the solver can count. If none are long enough the last model
            # is called all the same, so that the record of the round says `overflow`.
            for model in self._models(given):
                part = Part(given.plans, model)
                calls = Calls(part, self.client, worst_case=given.options.worst_case)
                if calls.can_be_counted():
                    break
        return calls if calls is not None and calls.plans.has_to_wait else None

    def _models(self, given: PlanningRound) -> Iterator[Selection]:
        """Yield the models of a round, in the shortest steps that can be counted, then in longer.

        The first is the whole selection where that is within all limits. The last is yielded
        whether the solver can count it or not. There are none where none of the jobs can start now.
        Raises OverflowError where no steps are long enough for the objective.
        """
        some, length = False, self._most(given)
        variables = self.client.formulation.variables
        for step in STEPS:
            while True:
                options = given.options._replace(length=length, step=step)
                try:
                    model = _part(given, options)
                # Costs in so short steps are too large for whole numbers; longer steps make smaller
                # ones.
                except OverflowError:
                    break
                if model is None:
                    return
                # Halving, not one job less: each try builds the data of a model.
                if length > 1 and variables(model.data) > self.largest_model:
                    length = min(length, len(model.jobs)) // 2
                    continue
                if self.client.can_count(model.data) or step == STEPS[-1]:
                    some = True
                    yield model
                break
        if not some:
            raise OverflowError(f"steps of {STEPS[-1]} s are too short for the objective")


def _part(given: PlanningRound, options: SelectionOptions) -> Selection | None:
    """Return the first jobs of the whole, as many as the options allow; or the whole itself."""
    whole, now = given.selection, given.problem.now
    if options.length >= len(whole.jobs) and (options.step, options.largest) == (1, whole.largest):
        return whole
    return select(
        given.problem, whole.jobs, options, lambda jobs: given.objective.cost_of(jobs, now)
    )
