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


class Models(NamedTuple):
    """What models there can be.

    `largest_model`: with at most so many decision variables; `largest`, `largest_objective`: what
    the solver can count (see `Backend`), or all that 64 bits hold where none is asked.
    """

    formulation: Formulation
    largest_model: int
    largest: int = 1 << 62
    largest_objective: int = 1 << 62

    def can_count(self, data: ModelData) -> bool:
        """Say whether all numbers of a model are within the solver's range."""
        return max(self.formulation.magnitude(data), data.pool_magnitude) <= self.largest

    def selections(
        self,
        problem: DispatchingProblem,
        by_priority: Sequence[WaitingJob],
        wanted: Wanted,
        cost_of: Callable[[Sequence[WaitingJob], int], PlannedCost],
    ) -> Iterator[Selection]:
        """Yield what to model, in the shortest steps that the solver can count, then in longer.

        The last is yielded whether it can or not. There are none where no job can start now, or
        where no steps are long enough for the objective. `wanted` is as to jobs; its step and its
        largest objective are seen to here, and there are fewer jobs where they would make too large
        a model.
        """
        length = wanted.length
        for step in STEPS:
            while True:
                this = wanted._replace(length=length, step=step, largest=self.largest_objective)
                try:
                    selection = select(
                        problem, by_priority, this, lambda jobs: cost_of(jobs, problem.now)
                    )
                except OverflowError:
                    break
                if selection is None:
                    return
                data = selection.data
                if length > 1 and self.formulation.variables(data) > self.largest_model:
                    length = min(length, len(selection.jobs)) // 2
                    continue
                if self.can_count(data) or step == STEPS[-1]:
                    yield selection
                break
