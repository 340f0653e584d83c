"""The global constraint that rectangles do not overlap (`diffn`)."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import cpmpy as cp
from cpmpy.expressions.core import Expression
from cpmpy.expressions.globalconstraints import GlobalConstraint
from cpmpy.expressions.utils import argvals


class NoOverlap2D(GlobalConstraint):
    """Rectangles `[x, x + width) × [y, y + height)` do not overlap in pairs.

    Origins are variables or numbers, sizes positive numbers; all four lists are equally long.
    Source: `diffn` of Aggoun and Beldiceanu, *Extending CHIP in order to solve complex scheduling
    and placement problems*, 1993.
    """

    def __init__(
        self, x: Sequence[Any], width: Sequence[int], y: Sequence[Any], height: Sequence[int]
    ) -> None:
        if not len(x) == len(width) == len(y) == len(height):
            raise ValueError("expected four lists of one length")
        if any(size < 1 for size in (*width, *height)):
            raise ValueError("expected positive widths and heights")
        super().__init__("no_overlap_2d", (list(x), list(width), list(y), list(height)))

    def decompose(self, how: str = "auto") -> tuple[list[Expression], list[Expression]]:
        """Return the decomposition: every two rectangles are disjoint in x or in y.

        `how` is there for CPMpy; there is one way.
        """
        x, width, y, height = self.args
        # Of J units there are J · (J − 1) / 2 pairs: solvers that have the constraint itself are
        # given that.
        apart = [
            cp.any(
                [
                    x[a] + width[a] <= x[b],
                    x[b] + width[b] <= x[a],
                    y[a] + height[a] <= y[b],
                    y[b] + height[b] <= y[a],
                ]
            )
            for a, b in combinations(range(len(x)), 2)
        ]
        return apart, []

    def value(self) -> bool | None:
        """Say whether it holds for the variables' values; None while one has none."""
        x, width, y, height = (argvals(argument) for argument in self.args)
        if any(origin is None for origin in (*x, *y)):
            return None
        return not any(
            x[a] < x[b] + width[b]
            and x[b] < x[a] + width[a]
            and y[a] < y[b] + height[b]
            and y[b] < y[a] + height[a]
            for a, b in combinations(range(len(x)), 2)
        )
