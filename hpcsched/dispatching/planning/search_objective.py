"""Search objectives: the value that plans are compared by, and the cost that leads to better ones.

A sum over jobs is its own cost. A ratio of sums is linearised at a Dinkelbach parameter
(see `SpecificCost`): either its value for the incumbent, which is followed down as plans get better
(Dinkelbach, 1967), or a share of its value over the run so far.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.planned_cost import (
    CostOf,
    Plannable,
    PlannableRatio,
    PlannedCost,
    SpecificCost,
    planned_cost_of,
    planned_ratio_of,
    run_times,
)
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob
from hpcsched.errors import Finding, InputError
from hpcsched.plugin_faults import named
from hpcsched.system.system import IntArray


@dataclass
class DinkelbachParameter:
    """The ratio of sums over the jobs started so far, which gives the Dinkelbach parameter.

    Attributes
    ----------
    share
        Plans are linearised around this multiple of the ratio so far (see `SpecificCost`).
    """

    objective: PlannableRatio
    share: float
    _upper: float = 0.0
    _lower: float = 0.0

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost of planned starts, linearised at the present parameter."""
        # Before anything has started there is no ratio: at parameter 0 the numerator counts alone.
        ratio = self._upper / self._lower if self._lower else 0.0
        return planned_ratio_of(self.objective, jobs, now, self.share * ratio)

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Add jobs that start at `now` to the ratio."""
        specific = _specific(planned_ratio_of(self.objective, started, now, 0.0))
        starts = np.zeros(len(started), dtype=np.int64)
        upper, lower = specific.sums(starts, run_times(started))
        self._upper += upper
        self._lower += lower


@dataclass(frozen=True)
class SearchObjective:
    """The search objective: the cost of planned starts, by which plans are compared.

    Attributes
    ----------
    cost_of
        Returns the cost of planned starts of some jobs from a time on.
    dinkelbach_parameter
        The ratio over the run so far, where the cost is linearised around it.
    moves
        Whether a better plan makes another model, in which a still better one may be found.
    """

    cost_of: CostOf
    dinkelbach_parameter: DinkelbachParameter | None = None
    moves: ClassVar[bool] = False

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return the value of planned starts, `[J]`: the lower, the better."""
        return selection.cost.value(starts, selection.data.run_times)

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return a cost that is lower for starts that improve on the incumbent.

        Parameters
        ----------
        best
            Starts of the incumbent, `[J]`; None: there is none yet.
        """
        del best
        return selection.cost

    def add(self, problem: DispatchingProblem, starts: Sequence[Start]) -> None:
        """Add the jobs that start now to the ratio so far, if there is one."""
        if self.dinkelbach_parameter is not None:
            started = {start.job_id for start in starts}
            jobs = [job for job in problem.queue if job.job_id in started]
            self.dinkelbach_parameter.add(jobs, problem.now)


class ModelCost(SearchObjective):
    """The model's own objective in whole numbers, rounded as the solver sees it."""

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return the model's objective of planned starts, `[J]`."""
        return selection.data.cost(starts)


class OwnRatio(SearchObjective):
    """A ratio of sums over the planned jobs alone (Goponenko et al., DEBS 2024, section 2.3).

    The cost is that at parameter 0.
    """

    moves: ClassVar[bool] = True

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return the ratio of planned starts, `[J]`."""
        return _specific(selection.cost).ratio(starts, selection.data.run_times)

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return the cost at the incumbent's ratio, the next Dinkelbach parameter.

        Without an incumbent it is the ratio if all jobs could start now, a lower bound of any
        plan's.
        """
        starts = np.zeros(selection.data.job_count, dtype=np.int64) if best is None else best
        specific = _specific(selection.cost)._replace(
            dinkelbach_parameter=self.value(selection, starts)
        )
        return selection.cost._replace(specific=specific)


def search_objective(objective: Objective, dinkelbach_parameter: float | None) -> SearchObjective:
    """Return the search objective of a scenario's objective.

    Parameters
    ----------
    dinkelbach_parameter
        Dinkelbach parameter of a ratio of sums, as a share of the ratio over the run so far; None:
        the ratio over the planned jobs alone. Without effect for other objectives.
    """
    if isinstance(objective, Plannable):
        return SearchObjective(partial(planned_cost_of, objective))
    if not isinstance(objective, PlannableRatio):
        raise no_cost(objective)
    if dinkelbach_parameter is None:
        return OwnRatio(lambda jobs, now: planned_ratio_of(objective, jobs, now, 0.0))
    so_far = DinkelbachParameter(objective, dinkelbach_parameter)
    return SearchObjective(so_far.cost, so_far)


def no_cost(objective: Objective) -> InputError:
    """Return the error about an objective in which plans have no cost."""
    message = (
        f"{named('objective', objective)} cannot be planned for: its plans have no cost;"
        " expected an objective with a method 'planned_cost' or 'planned_ratio'"
    )
    return InputError(Finding("no-planned-cost", message, key="objective"))


def _specific(cost: PlannedCost) -> SpecificCost:
    assert cost.specific is not None
    return cost.specific
