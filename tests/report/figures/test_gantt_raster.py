"""Merged rectangles of a Gantt chart, by hand."""

from hpcsched.report.figures.gantt import MergedRectangle, merged

A = MergedRectangle(0, 40, 0, 1, "a")
"""In the first of two rows of nodes, for the first 40 of 100 s."""


def test_cells_in_the_colour_of_most() -> None:
    """On 10 x 2 cells a job from 44 to 100 s begins at 40 s: it takes 60 % of that cell."""
    found = merged([A, MergedRectangle(44, 100, 0, 1, "b")], (0, 100, 2), (10, 2))
    assert found == [A, MergedRectangle(40, 100, 0, 1, "b")]


def test_neighbours_are_one() -> None:
    """Jobs of a category side by side and below each other are one rectangle."""
    parts = [A, A._replace(top=1, bottom=2), A._replace(begin=40, end=70, bottom=2)]
    assert merged(parts, (0, 100, 2), (10, 2)) == [MergedRectangle(0, 70, 0, 2, "a")]


def test_mostly_idle() -> None:
    """Eight nodes in a cell of which three are busy: nothing is drawn; of five, the whole cell."""
    busy = [MergedRectangle(0, 100, node, node + 1, "a") for node in range(5)]
    assert merged(busy[:3], (0, 100, 8), (10, 1)) == []
    assert merged(busy, (0, 100, 8), (10, 1)) == [MergedRectangle(0, 100, 0, 8, "a")]
    assert merged([], (0, 100, 8), (10, 1)) == []
