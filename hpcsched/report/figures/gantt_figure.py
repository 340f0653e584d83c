"""The figure of a Gantt chart: time to the right, nodes downwards, jobs as rectangles."""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt

from hpcsched.report.figures.chart_parts import (
    Figure,
    chart_of,
    layers,
    panels,
    plot_width,
    rows,
    sized,
    time_unit,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, job_colour
from hpcsched.report.figures.gantt import Window, gantt_window
from hpcsched.report.studied_runs import Study

_DOWN = "#d9d9d9"
"""Colour of a node out of service."""
_NUMBERED = 200
"""Largest number of rectangles for which job numbers are written, where there is room."""
_LEGIBLE, _TALL = 0.02, 0.4
"""Least width, as a share of the window, and height, as a share of a node, for a number."""
_NAMED = 24
"""Largest number of nodes named one by one; of more, only the first of each group is."""
_MANY = 3000
"""Number of rectangles from which on their edges are left out, which would cover them."""


def gantt_figure(
    study: Study,
    resources: Sequence[str] = (),
    begin: int | None = None,
    end: int | None = None,
    width: int = PAPER_WIDTH,
) -> Figure:
    """Return the figure of a Gantt chart, with a panel for each run and resource type.

    Parameters
    ----------
    study
        The runs.
    resources
        Resource types; empty is the system's first.
    begin, end
        Bounds in simulated seconds; None is the first start or the last end.
    width
        Width, in points.

    Raises
    ------
    InputError
        As in `gantt_window`.
    """
    charts = []
    for one in study.runs:
        wanted: list[str | None] = [*resources] or [None]
        for resource in wanted:
            name, window = gantt_window(one, resource, begin, end)
            title = f"{one.name}: {name}" if len(study.runs) > 1 else name
            charts.append(_panel(window, width, title))
    caption = (
        "A rectangle for each job on each of its nodes, as high as its share of the node; grey"
        " where a node is out of service. Colours only tell neighbours apart."
    )
    return Figure("gantt", "Jobs on nodes", caption, panels(charts, columns=1))


def _panel(window: Window, width: int, title: str) -> alt.LayerChart:
    unit, name = time_unit(window.end - window.begin)
    row_of = {node: row for row, node in enumerate(window.nodes)}
    jobs = window.rectangles
    data = rows(
        job=[job.job_id for job in jobs],
        node=[window.system.node_name(job.node) for job in jobs],
        begin=[job.begin / unit for job in jobs],
        end=[job.end / unit for job in jobs],
        top=[row_of[job.node] + job.low for job in jobs],
        bottom=[row_of[job.node] + job.high for job in jobs],
        colour=[job_colour(job.job_id) for job in jobs],
    )
    down = rows(
        begin=[one.begin / unit for one in window.down],
        end=[one.end / unit for one in window.down],
        top=[row_of[one.node] for one in window.down],
        bottom=[row_of[one.node] + 1 for one in window.down],
    )
    time = alt.Scale(domain=[window.begin / unit, window.end / unit], nice=False)
    nodes = alt.Scale(domain=[0, len(window.nodes)], reverse=True, nice=False)
    places: dict[str, Any] = {
        "x": alt.X(
            "begin:Q", scale=time, axis=alt.Axis(title=f"{name} since the trace's origin")
        ),
        "x2": "end:Q",
        "y": alt.Y("top:Q", scale=nodes, axis=_node_axis(window)),
        "y2": "bottom:Q",
    }  # fmt: skip
    edge = 0.3 if len(jobs) <= _MANY else 0.0
    found = [
        chart_of(down)
        .mark_rect(color=_DOWN, stroke=INK, strokeWidth=0.3, clip=True)
        .encode(**places),
        chart_of(data)
        .mark_rect(stroke="white", strokeWidth=edge, clip=True)
        .encode(
            **places,
            color=alt.Color("colour:N", scale=None),
            tooltip=["job:Q", "node:N", "begin:Q", "end:Q"],
        ),
        chart_of(rows(row=_borders(window)))
        .mark_rule(strokeWidth=0.5)
        .encode(y=alt.Y("row:Q", scale=nodes)),
    ]
    if len(jobs) <= _NUMBERED:
        found.append(_numbers(window, unit, row_of, time, nodes))
    height = min(max(12 * len(window.nodes), 60), 440)
    return sized(layers(*found), (plot_width(width), height), title)


def _numbers(
    window: Window, unit: int, row_of: dict[int, int], time: alt.Scale, nodes: alt.Scale
) -> alt.Chart:
    """Return the numbers of the jobs whose rectangles have room for them."""
    span = window.end - window.begin
    shown = [
        job
        for job in window.rectangles
        if job.end - job.begin > _LEGIBLE * span and job.high - job.low >= _TALL
    ]
    data = rows(
        job=[str(job.job_id) for job in shown],
        x=[(job.begin + job.end) / 2 / unit for job in shown],
        y=[row_of[job.node] + (job.low + job.high) / 2 for job in shown],
    )
    numbers: alt.Chart = (
        chart_of(data)
        .mark_text(fontSize=6, clip=True)
        .encode(x=alt.X("x:Q", scale=time), y=alt.Y("y:Q", scale=nodes), text="job:N")
    )
    return numbers


def _borders(window: Window) -> list[int]:
    """Return the rows at which another group of nodes begins."""
    groups = [int(window.system.group_of[node]) for node in window.nodes]
    return [row for row in range(1, len(groups)) if groups[row - 1] != groups[row]]


def _node_axis(window: Window) -> alt.Axis:
    """Return an axis that names nodes: all of a few, else the first of each group."""
    few = len(window.nodes) <= _NAMED
    shown = range(len(window.nodes)) if few else [0, *_borders(window)]
    places = [row + 0.5 for row in shown]
    names = [window.system.node_name(window.nodes[row]) for row in shown]
    # Vega-Lite evaluates the expression for each mark; texts of JSON are texts there.
    label = f"{json.dumps(names)}[indexof({json.dumps(places)}, datum.value)]"
    return alt.Axis(
        title=None, values=places, labelExpr=label, labelFontSize=6, labelOverlap=False,
        ticks=False, grid=False,
    )  # fmt: skip
