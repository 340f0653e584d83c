"""Start-time cost functions: the cost of a job by its start.

`StartTimeCosts` are exact, for the core. For models there are piecewise linear ones in whole
numbers. A job's share of PαSF at a Dinkelbach parameter λ (`SpecificCost`) first falls with its
start, ever faster, then ever slower, and then grows: it is concave up to its inflection and convex
from there. It becomes linear pieces between breakpoints: every start where there are few, else
as many as pay.
"""

from bisect import bisect_right
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched._core import find_cheapest, find_costs
from hpcsched.dispatching.planned_cost import FloatArray, PlannedCost, SpecificCost
from hpcsched.metrics.job_metrics import power_difference
from hpcsched.system.system import IntArray

FEW_STARTS = 64
"""Up to this many starts each is a breakpoint, so that nothing is lost."""

PIECES = 12
"""Number of linear pieces of a function of more starts."""


class StartTimeCosts(NamedTuple):
    """Start-time cost functions of `J` jobs, in seconds.

    The cost of a job is `Σ weights[t, j] · late[t]` with `late[t]` = max(start − free[t, j], 0),
    and, for a ratio of sums, `amounts[j] · ((α+1)/(α+2) · (F^(α+2) − Q^(α+2)) − λ · (F^(α+1) −
    Q^(α+1)))` with Q = start − submit[j] and F = Q + run_times[j]. To the sum over jobs is
    added `makespan` · last end.

    Attributes
    ----------
    weights, free
        Cost per second of lateness, and the start in seconds after which it counts; both `[T, J]`.
    makespan
        Cost of a second of the last end.
    amounts
        Factor of each job in the ratio of sums, `[J]`; 0: the job's cost is its lateness alone.
    submit, run_times
        Submission and run time of each job, in seconds, `[J]`.
    """

    weights: FloatArray
    free: FloatArray
    makespan: float
    alpha: float
    dinkelbach_parameter: float
    amounts: FloatArray
    submit: IntArray
    run_times: IntArray


def total(costs: StartTimeCosts, starts: IntArray) -> float:
    """Return the cost of a plan.

    Parameters
    ----------
    starts
        Starts in seconds, `[J]`.
    """
    found = np.empty(len(starts))
    find_costs(costs, starts, found)
    end = float((starts + costs.run_times).max(initial=0))
    return float(found.sum()) + costs.makespan * end


def least_of_each(costs: StartTimeCosts) -> tuple[IntArray, FloatArray]:
    """Return each job's start of least cost, were it alone, and that cost; both `[J]`."""
    starts, least = np.empty_like(costs.submit), np.empty(len(costs.submit))
    find_cheapest(costs, starts, least)
    return starts, least


def costs_of(cost: PlannedCost, submit: IntArray, run_times: IntArray) -> StartTimeCosts:
    """Return the start-time cost functions of a planned cost, less its constant part.

    Parameters
    ----------
    submit
        Submission of each job, in seconds, `[J]`; none starts before.
    run_times
        Run times in seconds, `[J]`.
    """
    weights = np.atleast_2d(cost.weights)
    some = weights.any(axis=1)
    none = np.zeros(len(submit))
    specific = cost.specific or SpecificCost(0, 0, none, none)
    return StartTimeCosts(
        # Terms without any weight are dropped: the core goes over all terms of a job.
        weights[some].astype(np.float64),
        np.maximum(np.atleast_2d(cost.free)[some], submit).astype(np.float64),
        float(cost.makespan),
        float(specific.alpha),
        float(specific.dinkelbach_parameter),
        specific.amounts.astype(np.float64),
        submit,
        run_times,
    )


class StartCostFunction(NamedTuple):
    """Cost of a job by its start (a curve): linear between breakpoints, in whole numbers.

    The slopes between breakpoints are whole numbers, so the cost is one at every start.

    Attributes
    ----------
    at
        Breakpoints in seconds, ascending from 0 to the latest start.
    """

    at: tuple[int, ...]
    cost: tuple[int, ...]

    @property
    def slopes(self) -> tuple[int, ...]:
        """Slope of each piece: the cost of one more second."""
        pairs = pairwise(zip(self.at, self.cost, strict=True))
        return tuple((high - low) // (end - begin) for (begin, low), (end, high) in pairs)

    @property
    def least(self) -> int:
        """The least cost at any breakpoint."""
        return min(self.cost)

    def value(self, start: int) -> int:
        """Return the cost of a start; beyond the last breakpoint the last piece goes on."""
        if len(self.at) == 1:
            return self.cost[0]
        k = min(bisect_right(self.at, start), len(self.at) - 1) - 1
        return self.cost[k] + self.slopes[k] * (start - self.at[k])

    def until(self, latest: int) -> "StartCostFunction":
        """Return the function up to a latest start, its last breakpoint if it is earlier."""
        if latest >= self.at[-1]:
            return self
        kept = bisect_right(self.at, latest - 1)
        return StartCostFunction((*self.at[:kept], latest), (*self.cost[:kept], self.value(latest)))

    def latest(self, limit: int) -> int:
        """Return the latest start that costs at most `limit`; 0 where there is none."""
        if self.cost[-1] <= limit:
            return self.at[-1]
        for k in range(len(self.at) - 2, -1, -1):
            if self.cost[k] <= limit:
                # The next breakpoint costs more than the limit, so that the slope is positive.
                return self.at[k] + (limit - self.cost[k]) // self.slopes[k]
        return 0


class Shape(NamedTuple):
    """A start-time cost function before rounding.

    Attributes
    ----------
    at
        Breakpoints in seconds, `[B]`.
    slopes
        Slope of each piece, in cost per second, `[B - 1]`.
    """

    at: IntArray
    slopes: FloatArray

    @property
    def reach(self) -> float:
        """The steepest slope times the number of seconds."""
        return float(np.abs(self.slopes).max(initial=0.0) * self.at[-1])

    def rounded(self, scale: float) -> StartCostFunction:
        """Return the function times `scale`, with whole slopes, from cost 0 on.

        Rounding keeps the slopes in order, so a convex function stays convex.
        """
        # Slopes are rounded, not values: a rounded value would give a slope that is no whole
        # number.
        rises = np.rint(self.slopes * scale).astype(np.int64) * np.diff(self.at)
        cost = np.concatenate(([0], rises.cumsum()))
        return StartCostFunction(tuple(self.at.tolist()), tuple(cost.tolist()))


class SpecificCostFunctions:
    """The shares of jobs in PαSF's sums at a Dinkelbach parameter λ, by their starts.

    With Q = wait + start and F = Q + run time, a share is amount · ((α+1)/(α+2) · P(α+2) − λ ·
    P(α+1)), where P(p) = F^p − Q^p; see `SpecificCost`. Its slope has the sign of P(α+1) − λ ·
    P(α), and its bend that of (α+1) · P(α) − α · λ · P(α−1). Both are negative up to some start
    and positive from there, as P(p) over P(p−1) grows with Q; where Q is λ, they are
    positive.
    """

    def __init__(self, specific: SpecificCost, run_times: IntArray) -> None:
        self._specific = specific
        self._run_times = run_times.astype(np.float64)
        self._amounts = specific.amounts[:, np.newaxis]

    def turns(self) -> IntArray:
        """Return the first start from which on each job costs no less by starting later, `[J]`."""
        return self._first(lambda starts: self._slope(starts) >= 0)

    def shapes(self, latest: IntArray, pieces: int = PIECES) -> list[Shape]:
        """Return a piecewise linear function of each job.

        Parameters
        ----------
        latest
            Latest start of each job, `[J]`, at least 0.
        pieces
            Number of pieces where a job has more than `FEW_STARTS` starts.
        """
        at = [
            np.arange(last + 1) if last <= FEW_STARTS else np.unique(points)
            for last, points in zip(latest.tolist(), self._breakpoints(latest, pieces), strict=True)
        ]
        longest = max(map(len, at), default=0)
        table = np.array(
            [np.pad(points, (0, longest - len(points)), mode="edge") for points in at],
            dtype=np.int64,
        ).reshape(len(at), longest)
        slopes = self._chords(table)
        return [Shape(points, slopes[j, : len(points) - 1]) for j, points in enumerate(at)]

    def _breakpoints(self, latest: IntArray, pieces: int) -> IntArray:
        """Return the breakpoints, `[J, pieces + 1]`, ascending, some of them twice.

        The piece of largest distance from the share is split until there are enough pieces.
        """
        bend = np.minimum(self._first(lambda starts: self._bend(starts) >= 0), latest)
        turn = np.minimum(self.turns(), latest)
        # The inflection and the minimum are always breakpoints: pieces across them would not bound.
        ends = np.zeros_like(latest), np.maximum(bend - 1, 0), bend, turn, latest
        at = np.sort(np.column_stack(ends), axis=1)
        rows = np.arange(len(latest))
        while at.shape[1] <= pieces:
            apart, split = self._apart(at)
            at = np.sort(np.column_stack((at, split[rows, apart.argmax(axis=1)])), axis=1)
        return at

    def _apart(self, at: IntArray) -> tuple[FloatArray, IntArray]:
        """Return the largest distance of each piece from the share, and the start to split it at.

        Between two breakpoints without an inflection the share lies between the piece and the
        tangents at its ends, and these are farthest from the piece where they meet.
        """
        length = np.diff(at)
        begin, end = at[:, :-1], at[:, 1:]
        chord, first, last = self._chords(at), self._slope(begin), self._slope(end)
        # Equal slopes: the piece is a straight line, and any divisor but 0 gives a distance of 0.
        turned = np.where(last == first, 1.0, last - first)
        share = np.clip((last - chord) / turned, 0.0, 1.0)
        meet = begin + np.rint(share * length).astype(np.int64)
        inside = np.clip(meet, np.minimum(begin + 1, end), np.maximum(end - 1, begin))
        apart = np.abs(chord - first) * share * length
        return np.where(length > 1, apart, 0.0), inside

    def _chords(self, at: IntArray) -> FloatArray:
        """Return the slopes between breakpoints, `[J, K]`, by the second; 0 for no length."""
        rise = np.diff(self._share(at), axis=1)
        return np.asarray(rise / np.maximum(np.diff(at), 1))

    def _first(self, holds: Callable[[IntArray], npt.NDArray[np.bool_]]) -> IntArray:
        """Return each job's first start from which on a condition holds, by bisection, `[J]`."""
        late = np.maximum(self._specific.dinkelbach_parameter - self._specific.waits, 0.0)
        high = np.ceil(late).astype(np.int64)
        low = np.zeros_like(high)
        while (low < high).any():
            middle = (low + high) // 2
            there = holds(middle[:, np.newaxis])[:, 0]
            high = np.where(there, middle, high)
            low = np.where(there, low, np.minimum(middle + 1, high))
        return low

    def _differences(self, starts: IntArray, power: float) -> FloatArray:
        """Return F^power − Q^power, `[J, K]`; 0 for a power of 0."""
        wait = self._specific.waits[:, np.newaxis] + starts
        if power == 0:
            return np.zeros_like(wait)
        times = np.broadcast_to(self._run_times[:, np.newaxis], wait.shape)
        return power_difference(wait, times, power)

    def _share(self, starts: IntArray) -> FloatArray:
        """Return the shares, `[J, K]`."""
        a, dinkelbach_parameter = self._specific.alpha + 1, self._specific.dinkelbach_parameter
        upper = a / (a + 1) * self._differences(starts, a + 1)
        return self._amounts * (upper - dinkelbach_parameter * self._differences(starts, a))

    def _slope(self, starts: IntArray) -> FloatArray:
        """Return the shares' slopes, `[J, K]`, by the second."""
        a, dinkelbach_parameter = self._specific.alpha + 1, self._specific.dinkelbach_parameter
        upper, lower = self._differences(starts, a), self._differences(starts, a - 1)
        return a * self._amounts * (upper - dinkelbach_parameter * lower)

    def _bend(self, starts: IntArray) -> FloatArray:
        """Return a value with the sign of the shares' second derivatives, `[J, K]`."""
        a, dinkelbach_parameter = self._specific.alpha, self._specific.dinkelbach_parameter
        if a <= 1:  # F^(α−1) − Q^(α−1) is not positive
            return np.ones(starts.shape)
        lower = self._differences(starts, a - 1)
        return (a + 1) * self._differences(starts, a) - a * dinkelbach_parameter * lower
