"""Whole-number objective of a model: scale and rounding of a cost, and bound of the error."""

from collections.abc import Sequence
from math import sqrt

import numpy as np

from hpcsched.dispatching.planned_cost import PlannedCost
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.dispatching.planning.start_cost_functions import (
    Shape,
    StartCostFunction,
)

LARGEST_PRODUCT = 1 << 56
"""Upper limit of the slope times the cost of a start-time cost function.

Solvers multiply the numbers of lines that bound a variable: where such products pass 2⁶³, CP-SAT
9.15 calls plans optimal that are not. The distance to 2⁶³ is for sums of products.
"""


def cost_scale(cost: PlannedCost, shapes: Sequence[Shape], horizon: int, largest: int) -> float:
    """Return the factor of a cost before it is rounded to whole numbers.

    No step that counts is later than `horizon`. The model's objective stays within `largest`, and
    so does each line of a start-time cost function over all starts. Raises OverflowError where
    there is no such scale.
    """
    together = (float(cost.weights.sum()) + cost.makespan) * max(horizon, 1)
    together += sum(shape.reach for shape in shapes)
    count = cost.weights.size + len(shapes) + 1
    # Rounding a weight adds at most 1, over at most the horizon: that much is set aside.
    left = largest - count * max(horizon, 1)
    if left <= 0:
        raise OverflowError(f"{count - 1} terms over {horizon} steps")
    scale = left / together if together else 1.0
    steepest = max((float(np.abs(shape.slopes).max(initial=0.0)) for shape in shapes), default=0.0)
    farthest = max((shape.reach for shape in shapes), default=0.0)
    if steepest and farthest:
        scale = min(scale, sqrt(LARGEST_PRODUCT) / sqrt(steepest) / sqrt(farthest))
    # No larger than needed: weights that are whole already stay as they are.
    whole = not cost.makespan % 1 and bool((cost.weights == np.rint(cost.weights)).all())
    return 1.0 if scale >= 1 and whole and not shapes else scale


def rounded_shapes(shapes: Sequence[Shape], scale: float) -> tuple[StartCostFunction, ...]:
    """Return start-time cost functions with whole numbers, `scale` times the shapes."""
    return tuple(shape.rounded(scale) for shape in shapes)


def error_bound_of(
    cost: PlannedCost, data: ModelData, shapes: Sequence[Shape], scale: float
) -> float:
    """Return an upper bound of the extra cost of a plan that the model prefers to a better one.

    The error is at most the difference of two slopes over the horizon for each rounded weight, less
    than a step for each time that is rounded up, and the loss of the linear pieces.
    """
    seconds = max(data.horizon, int(data.free.max(initial=1))) * data.step
    weights = float(np.abs(data.weights / scale - cost.weights).sum()) * seconds
    weights += abs(data.makespan / scale - cost.makespan) * seconds
    steps = float((cost.weights * (data.free * data.step - cost.free)).sum())
    steps += cost.makespan * (data.step - 1)
    return weights + steps + sum(shape.lost(scale, data.step) for shape in shapes)
