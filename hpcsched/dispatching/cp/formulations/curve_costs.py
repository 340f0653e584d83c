"""Piecewise linear start-time cost functions in plain CPMpy that all solvers take."""

from itertools import pairwise
from typing import Any

import cpmpy as cp

from hpcsched.dispatching.cp.formulation import Variable
from hpcsched.dispatching.planning.start_cost_functions import StartCostFunction


def curve_cost(curve: StartCostFunction, start: Variable, name: str) -> tuple[Any, list[Any]]:
    """Return an expression for the cost of a start that is minimised, and its constraints.

    The expression is at least the cost, and equal to it where it is minimised. A straight line that
    is nowhere above the curve bounds the cost from below at every start. The other pieces hold in
    their parts of the time alone: of neighbouring parts, in each of which the curve is convex, the
    start is in one. Where two meet they cost the same.

    Parameters
    ----------
    curve
        The start-time cost function of a job.
    start
        The start variable of the job.
    name
        Ending of the names of new variables.
    """
    slopes = curve.slopes
    if len(set(slopes)) <= 1:
        return sum(slopes[:1]) * start + curve.cost[0], []
    cost = cp.intvar(min(curve.cost), max(curve.cost), name=f"cost{name}")
    lines = [
        (slope, value - slope * begin)
        for slope, begin, value in zip(slopes, curve.at, curve.cost, strict=False)
    ]
    # A line below the whole curve holds at every start, so it needs no Boolean. Not a set of lines:
    # what a solver answers depends on the order of its constraints.
    anywhere = [line for line in dict.fromkeys(lines) if _nowhere_above(line, curve)]
    constraints = [cost >= slope * start + height for slope, height in anywhere]
    if len(anywhere) == len(set(lines)):
        return cost, constraints
    parts = _convex_parts(slopes)
    # One Boolean a convex part, not one a piece: solvers branch on far fewer.
    here = [cp.boolvar(name=f"part{name},{k}") for k in range(len(parts))]
    constraints.append(cp.sum(here) == 1)
    for within, pieces in zip(here, parts, strict=True):
        first, last = curve.at[pieces.start], curve.at[pieces.stop]
        if pieces.start > 0:
            constraints.append(within.implies(start >= first))
        if pieces.stop < len(slopes):
            constraints.append(within.implies(start <= last))
        constraints += [
            within.implies(cost >= slope * start + height)
            for slope, height in dict.fromkeys(lines[pieces.start : pieces.stop])
            if (slope, height) not in anywhere
        ]
    return cost, constraints


def _nowhere_above(line: tuple[int, int], curve: StartCostFunction) -> bool:
    slope, height = line
    return all(slope * at + height <= value for at, value in zip(curve.at, curve.cost, strict=True))


def _convex_parts(slopes: tuple[int, ...]) -> list[range]:
    """Return the pieces in as few runs as there can be in which no slope is below the last."""
    begins = [0, *(k for k in range(1, len(slopes)) if slopes[k] < slopes[k - 1]), len(slopes)]
    return [range(first, last) for first, last in pairwise(begins)]
