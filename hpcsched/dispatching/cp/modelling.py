"""Which jobs a model has: as many as it may, in steps that the solver can count."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hpcsched.dispatching.cp.formulation import Formulation
from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.selection import Selection, Wanted, select
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob

STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""How many seconds a step may be; the least with which a solver's range of numbers suffices."""

LARGEST = 1 << 62
"""What numbers may amount to where no solver has to count them."""

CostOf = Callable[[Sequence[WaitingJob], int], PlannedCost]


class Models(NamedTuple):
    """What models there can be.

    `largest_model`: with at most so many decision variables; `largest`, `largest_objective`: what
    the solver can count (see `Backend`), or all that 64 bits hold where none is asked.
    """

    formulation: Formulation
    largest_model: int
    largest: int = LARGEST
    largest_objective: int = LARGEST

    def can_count(self, data: ModelData) -> bool:
        """Say whether all numbers of a model are within the solver's range."""
        return max(self.formulation.magnitude(data), data.pool_magnitude) <= self.largest

    def whole(
        self,
        problem: DispatchingProblem,
        by_priority: Sequence[WaitingJob],
        wanted: Wanted,
        cost_of: CostOf,
    ) -> Selection | None:
        """Return all that is wanted, in seconds, for list plans; None where no job can start now.

        No limit of the solver makes it smaller. Where the solver could count its objective, it can
        be the solver's model too.
        """
        for largest in (self.largest_objective, LARGEST):
            this = wanted._replace(step=1, largest=largest)
            try:
                return select(problem, by_priority, this, lambda jobs: cost_of(jobs, problem.now))
            except OverflowError:
                continue
        return None

    def selections(
        self, problem: DispatchingProblem, whole: Selection, wanted: Wanted, cost_of: CostOf
    ) -> Iterator[Selection]:
        """Yield what to model, in the shortest steps that the solver can count, then in longer.

        The first is the whole where that is within all limits. The last is yielded whether the
        solver can count it or not. `wanted` is as to jobs, which are the first of the whole; its
        step and its largest objective are seen to here, and there are fewer jobs where they would
        make too large a model. There are none where none of the jobs can start now. Raises
        OverflowError where no steps are long enough for the objective.
        """
        length, some = wanted.length, False
        for step in STEPS:
            while True:
                this = wanted._replace(length=length, step=step, largest=self.largest_objective)
                try:
                    selection = _part(problem, whole, this, cost_of)
                except OverflowError:
                    break
                if selection is None:
                    return
                data = selection.data
                if length > 1 and self.formulation.variables(data) > self.largest_model:
                    length = min(length, len(selection.jobs)) // 2
                    continue
                if self.can_count(data) or step == STEPS[-1]:
                    some = True
                    yield selection
                break
        if not some:
            raise OverflowError(f"steps of {STEPS[-1]} s are too short for the objective")


def _part(
    problem: DispatchingProblem, whole: Selection, wanted: Wanted, cost_of: CostOf
) -> Selection | None:
    """Return the first jobs of the whole as wanted, which may be the whole as it is."""
    if wanted.length >= len(whole.jobs) and (wanted.step, wanted.largest) == (1, whole.largest):
        return whole
    return select(problem, whole.jobs, wanted, lambda jobs: cost_of(jobs, problem.now))
