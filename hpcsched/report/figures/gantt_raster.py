"""Rectangles of a Gantt chart merged where there are more than can be told apart."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn

_IDLE = -1


class MergedRectangle(NamedTuple):
    """A rectangle of jobs of one category.

    Attributes
    ----------
    begin, end
        Simulated seconds.
    top, bottom
        Rows of nodes, from 0.
    """

    begin: float
    end: float
    top: float
    bottom: float
    category: str


def merged(
    rectangles: Sequence[MergedRectangle],
    bounds: tuple[int, int, int],
    cells: tuple[int, int],
) -> list[MergedRectangle]:
    """Return rectangles on a grid, each cell in the category that takes most of it.

    Parameters
    ----------
    rectangles
        Rectangles that do not overlap.

    Returns
    -------
    list
        Rectangles of equal neighbouring cells. A cell that is idle for half or more stays empty.
    """
    begin, end, rows = bounds
    names = list(dict.fromkeys(one.category for one in rectangles))
    covered = np.zeros((len(names), cells[1], cells[0]), dtype=np.float32)
    number: Mapping[str, int] = {name: k for k, name in enumerate(names)}
    across, down = cells[0] / (end - begin), cells[1] / rows
    for one in rectangles:
        left, wide = _shares((one.begin - begin) * across, (one.end - begin) * across, cells[0])
        top, high = _shares(one.top * down, one.bottom * down, cells[1])
        part = covered[number[one.category], top : top + len(high), left : left + len(wide)]
        part += high[:, None] * wide
    used = covered.sum(axis=0) > 0.5 if names else np.zeros(cells[::-1], dtype=bool)
    most = np.where(used, covered.argmax(axis=0), _IDLE) if names else np.full(cells[::-1], _IDLE)
    found: list[MergedRectangle] = []
    # Runs of the row above that reach down to this one, by their columns and category.
    above: dict[tuple[int, int, int], int] = {}
    for row, line in enumerate(most):
        edges = np.flatnonzero(np.diff(line, prepend=_IDLE - 1, append=_IDLE - 1))
        reaching: dict[tuple[int, int, int], int] = {}
        for low, high in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            run = low, high, int(line[low])
            if run[2] == _IDLE:
                continue
            if run in above:
                place = reaching[run] = above[run]
                found[place] = found[place]._replace(bottom=(row + 1) / down)
            else:
                reaching[run] = len(found)
                times = begin + low / across, begin + high / across
                found.append(MergedRectangle(*times, row / down, (row + 1) / down, names[run[2]]))
        above = reaching
    return found


def _shares(low: float, high: float, count: int) -> tuple[int, FloatColumn]:
    """Return the first cell that a span touches, and the share of each cell that it covers."""
    first, last = max(int(low), 0), min(int(np.ceil(high)), count)
    cell = np.arange(first, last)
    return first, np.minimum(cell + 1, high) - np.maximum(cell, low)
