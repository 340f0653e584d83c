"""What plans are made for: how one is judged, and the model in which a better one is to be found.

A sum over jobs is its own model. A ratio of sums is made linear at a level (see `SpecificCost`),
either its value for the best plan at hand, which is followed down as plans get better (Dinkelbach,
1967), or a share of what it has come to over the run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.planned_cost import (
    Plannable,
    PlannableRatio,
    PlannedCost,
    SpecificCost,
    run_times,
)
from hpcsched.dispatching.planning.ratio import ratio_of
from hpcsched.dispatching.planning.selection import Selection
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.dispatching.search.level import Level
from hpcsched.system.system import IntArray


class Reported(NamedTuple):
    """What a solver's answer says of the objective, in its own unit, where there is anything."""

    objective: float | None
    bound: float | None


class Aim(Protocol):
    """What plans are judged by. Starts are in steps, `[J]`."""

    @property
    def moves(self) -> bool:
        """Whether a better plan makes another model, in which a still better one may be found."""

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return a cost of planned starts, to select jobs and make list plans with."""

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return what a plan is judged by: the lower, the better."""

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return a cost by which what is better than the best starts so far costs less.

        None: there are none yet.
        """

    def reported(
        self, priced: Selection, starts: IntArray, objective: float | None, bound: float | None
    ) -> Reported:
        """Return what an answer says that is in the terms of the model of such a cost."""

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Take note of jobs that start now."""


@dataclass(frozen=True)
class Total:
    """A sum over jobs, or their last end: what the objective's planned cost is."""

    moves: ClassVar[bool] = False

    objective: Plannable

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the objective's cost."""
        return self.objective.planned_cost(jobs, now)

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return what the plan costs."""
        return selection.value(starts)

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return the objective's cost, whatever is at hand."""
        del best
        return selection.cost

    def reported(
        self, priced: Selection, starts: IntArray, objective: float | None, bound: float | None
    ) -> Reported:
        """Return both in the objective's own unit."""
        del starts
        return _in_own_unit(priced, objective, bound)

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Take note of nothing."""


@dataclass(frozen=True)
class OwnRatio:
    """A ratio of sums over the planned jobs alone (Goponenko et al., DEBS 2024, section 2.3)."""

    moves: ClassVar[bool] = True

    objective: PlannableRatio

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost at level 0."""
        return self.objective.planned_ratio(jobs, now, 0.0)

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return the ratio."""
        return _ratio(selection, starts)

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return the cost at the level of the best starts.

        Without any it is the ratio if all jobs could start now, below which no plan can get.
        """
        starts = np.zeros(selection.data.job_count, dtype=np.int64) if best is None else best
        specific = _specific(selection)._replace(level=_ratio(selection, starts))
        return selection.cost._replace(specific=specific)

    def reported(
        self, priced: Selection, starts: IntArray, objective: float | None, bound: float | None
    ) -> Reported:
        """Return the ratio of the starts, and one that no plan can get below.

        Where no plan costs less than `bound` at a level λ, numerator ≥ λ · denominator + bound, and
        the denominator is least if all jobs start now.
        """
        specific = _specific(priced)
        ratio = None if objective is None else _ratio(priced, starts)
        if bound is None:
            return Reported(ratio, None)
        below = min(priced.bound(bound) - priced.error_bound, 0.0)
        now = np.zeros(priced.data.job_count, dtype=np.int64)
        _, least = specific.sums(now, run_times(priced.jobs))
        return Reported(ratio, specific.level + below / least if least else None)

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Take note of nothing."""


@dataclass(frozen=True)
class RatioSoFar:
    """A ratio of sums over the run, at a share of what it has come to."""

    moves: ClassVar[bool] = False

    level: Level

    def cost(self, jobs: Sequence[WaitingJob], now: int) -> PlannedCost:
        """Return the cost at the present level."""
        return self.level.cost(jobs, now)

    def value(self, selection: Selection, starts: IntArray) -> float:
        """Return what the plan costs at that level."""
        return selection.value(starts)

    def toward(self, selection: Selection, best: IntArray | None) -> PlannedCost:
        """Return the cost at that level, whatever is at hand."""
        del best
        return selection.cost

    def reported(
        self, priced: Selection, starts: IntArray, objective: float | None, bound: float | None
    ) -> Reported:
        """Return both as costs at that level."""
        del starts
        return _in_own_unit(priced, objective, bound)

    def add(self, started: Sequence[WaitingJob], now: int) -> None:
        """Add jobs that start now to the ratio."""
        self.level.add(started, now)


def _in_own_unit(priced: Selection, objective: float | None, bound: float | None) -> Reported:
    return Reported(
        None if objective is None else priced.bound(objective),
        None if bound is None else priced.bound(bound),
    )


def _specific(selection: Selection) -> SpecificCost:
    specific = selection.cost.specific
    assert specific is not None
    return specific


def _ratio(selection: Selection, starts: IntArray) -> float:
    seconds = selection.starts_in_seconds(starts)
    return ratio_of(_specific(selection), seconds, run_times(selection.jobs))
