"""The drawing of a Gantt chart: time to the right, nodes upwards, jobs as rectangles."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from hpcsched.report.figures.figure_style import INK, job_colour
from hpcsched.report.figures.gantt import Window, gantt_window
from hpcsched.report.figures.pictures import Draw
from hpcsched.report.studied_runs import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DOWN = "#d9d9d9"
"""Colour of a node out of service, which is hatched."""
_NUMBERED = 200
"""Largest number of rectangles for which job numbers are written, where there is room."""
_LEGIBLE, _TALL = 0.02, 0.4
"""Least width, as a share of the window, and height, as a share of a node, for a number."""
_NAMED = 24
"""Largest number of nodes named one by one; of more, only the first of each group is."""
_MANY = 3000
"""More rectangles than these are drawn as an image within the vector figure."""


def draw_gantt(
    study: Study, resources: Sequence[str], begin: int | None = None, end: int | None = None
) -> Draw:
    """Return the drawing of a Gantt chart, with a panel for each run and resource type.

    Parameters
    ----------
    study
        The runs.
    resources
        Resource types; empty is the system's first.
    begin, end
        Bounds in simulated seconds; None is the first start or the last end.

    Raises
    ------
    InputError
        As in `gantt_window`.
    """
    panels: list[tuple[str, Window]] = []
    for one in study.runs:
        wanted: list[str | None] = [*resources] or [None]
        for resource in wanted:
            name, window = gantt_window(one, resource, begin, end)
            title = f"{one.name}: {name}" if len(study.runs) > 1 else name
            panels.append((title, window))

    def draw(figure: "Figure") -> None:
        figure.set_size_inches(7.2, 0.4 + sum(_height(window) for _, window in panels))
        heights = [_height(window) for _, window in panels]
        rows = figure.subplots(len(panels), 1, squeeze=False, height_ratios=heights)[:, 0]
        for axes, (title, window) in zip(rows, panels, strict=True):
            _plot(axes, window)
            axes.set_title(title, fontsize=9)
        rows[-1].set_xlabel("simulated seconds since the trace's origin")

    return draw


def _height(window: Window) -> float:
    """Return the height of a panel, in inches."""
    return 0.7 + min(max(0.16 * len(window.nodes), 1.0), 6.0)


def _plot(axes: "Axes", window: Window) -> None:
    from matplotlib.collections import PolyCollection  # noqa: PLC0415 (it takes its time)
    from matplotlib.patches import Polygon  # noqa: PLC0415

    row_of = {node: row for row, node in enumerate(window.nodes)}
    corners = np.empty((len(window.rectangles), 4, 2))
    for k, job in enumerate(window.rectangles):
        row = row_of[job.node]
        low, high = row + job.low, row + job.high
        corners[k] = (
            (job.begin, low),
            (job.end, low),
            (job.end, high),
            (job.begin, high),
        )
    for down in window.down:
        row = row_of[down.node]
        box = (down.begin, row), (down.end, row), (down.end, row + 1), (down.begin, row + 1)
        axes.add_patch(Polygon(box, facecolor=_DOWN, edgecolor=INK, hatch="////", linewidth=0.0))
    axes.add_collection(
        PolyCollection(
            list(corners),
            facecolors=[job_colour(job.job_id) for job in window.rectangles],
            edgecolors="white",
            linewidths=0.3,
            rasterized=len(corners) > _MANY,
        )
    )
    if len(window.rectangles) <= _NUMBERED:
        for job in window.rectangles:
            middle = (
                (job.begin + job.end) / 2,
                row_of[job.node] + (job.low + job.high) / 2,
            )
            wide = job.end - job.begin > _LEGIBLE * (window.end - window.begin)
            if not wide or job.high - job.low < _TALL:
                continue
            axes.text(
                *middle, str(job.job_id), ha="center", va="center", fontsize=6, color=INK,
                clip_on=True,
            )  # fmt: skip
    axes.set_xlim(window.begin, window.end)
    axes.set_ylim(len(window.nodes), 0)
    _name_nodes(axes, window)


def _name_nodes(axes: "Axes", window: Window) -> None:
    """Name nodes beside the axis, and separate groups of nodes by lines."""
    system = window.system
    groups = [int(system.group_of[node]) for node in window.nodes]
    few = len(window.nodes) <= _NAMED
    places, names = [], []
    for row, (node, group) in enumerate(zip(window.nodes, groups, strict=True)):
        first = not row or groups[row - 1] != group
        if first and row:
            axes.axhline(row, color=INK, linewidth=0.5)
        if few or first:
            places.append(row + 0.5)
            names.append(system.node_name(node))
    axes.set_yticks(places, names, fontsize=6)
