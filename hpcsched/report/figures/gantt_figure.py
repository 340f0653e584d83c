"""The figure of a Gantt chart: time to the right, nodes downwards, jobs as rectangles.

Above each is a strip with the use of the resource type over the same time.
"""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from hpcsched.metrics.over_time import binned, spanning
from hpcsched.report.figures.chart_parts import (
    STEPS,
    Chart,
    Figure,
    chart_of,
    layers,
    panels,
    plot_width,
    rows,
    sized,
    texts_at,
)
from hpcsched.report.figures.figure_style import PAPER_WIDTH, ink_on, job_colour
from hpcsched.report.figures.gantt import (
    By,
    JobRectangle,
    MarkedSpan,
    MergedRectangle,
    Window,
    category_colours,
    category_of,
    default_attribute,
    gantt_window,
    marked_spans,
    merged,
    shared_bounds,
)
from hpcsched.report.figures.run_series import percent_in_use
from hpcsched.report.figures.time_axis import TimeAxis, time_axis
from hpcsched.report.studied_runs import StudiedRun, Study
from hpcsched.report.tables.study_tables import run_time_classes

_DOWN, _OUT = "#595959", "out of service"
"""Colour of a node out of service, and its name in the legend."""
_IDLE, _DARKER = "#FFEFC8", 0.12
"""Colour below the jobs in marked spans, and opacity of black above them."""
_NUMBERED = 200
"""Largest number of rectangles for which job numbers are written, where there is room."""
_LEGIBLE, _TALL = 0.02, 6.0
"""Least width, as a share of the window, and height, in points, for a number."""
_NAMED = 24
"""Largest number of nodes named one by one; of more, only their groups are."""
_EDGED = 3.0
"""Least width and height of a rectangle with an edge, in points; it would cover smaller ones."""
_MANY = 3000
"""Number of rectangles of a panel from which on they are merged by category, a point a cell."""
_ROW, _LEAST, _MOST, _ALL = 15, 60, 440, 900
"""Height of a node's row, least and largest height of a panel, and of all panels, in points."""
_STRIP = 36
"""Height of the strip of the use of the resource type, in points."""


class _Panel(NamedTuple):
    """A run's jobs on the nodes that have a resource type."""

    run: StudiedRun
    resource: str
    window: Window


class _Colours(NamedTuple):
    """Colour of each category, and the category of each job of each panel."""

    by: By
    of_category: Mapping[str, str]
    of_job: Mapping[tuple[str, int], str]


def gantt_figure(
    study: Study,
    resources: Sequence[str] = (),
    begin: int | str | None = None,
    end: int | str | None = None,
    *,
    marks: Sequence[tuple[int | str, int | str]] = (),
    by: By | None = None,
    width: int = PAPER_WIDTH,
) -> Figure:
    """Return the figure of a Gantt chart, with a panel for each run and resource type.

    Parameters
    ----------
    resources
        Resource types; empty is the system's first.
    begin, end
        Bounds, as in `simulated_second`; None is the first start or the last end.
    marks
        Begin and end of spans of time that are shaded, as in `simulated_second`.
    by
        Attribute of jobs that colours show; None is the user if there are several, else the size.
    """
    wanted: Sequence[str | None] = [*resources] or [None]
    found = [
        _Panel(one, *gantt_window(one, resource, *bounds))
        for one, bounds in zip(study.runs, shared_bounds(study.runs, begin, end), strict=True)
        for resource in wanted
    ]
    colours = _colours(found, by)
    labels = study.run_labels
    charts: list[Chart] = []
    for place, panel in enumerate(found):
        # The axis of the last panel is that of all above it that have the same trace.
        last = place + 1 == len(found) or found[place + 1].run.group != panel.run.group
        height = _height(panel.window, len(found))
        title = labels[panel.run.name] if len(study.runs) > 1 else ""
        time = time_axis(panel.window.begin, panel.window.end, panel.run.run.calendar)
        marked = marked_spans(panel.run, panel.window, marks)
        strip = _with_marks([_strip(panel, time)], marked, time)
        size = plot_width(width), height
        nodes = _with_marks(_nodes(panel, time, colours, size, labelled=last), marked, time)
        charts += [sized(strip, (plot_width(width), _STRIP), title), sized(nodes, size)]
    caption = (
        "A rectangle for each job on its nodes, as high as its share of a node; dark grey where a"
        " node is out of service. Above: use of the resource type, in percent of all nodes."
        + (
            " Where there are more jobs than can be told apart, each place has the colour of those"
            " that take most of it."
            if any(len(panel.window.rectangles) > _MANY for panel in found)
            else ""
        )
        + (" Shaded: the marked spans of time." if marks else "")
    )
    return Figure("gantt", "Jobs on nodes", caption, panels(charts, columns=1))


def _colours(found: Sequence[_Panel], by: By | None) -> _Colours:
    """Return the colours of jobs, alike in all panels."""
    # A job counts once for each run and resource type, so that no panel is left out.
    jobs = [about for panel in found for about in panel.window.jobs.values()]
    attribute = default_attribute(jobs) if by is None else by
    classes = [name for panel in found for name, _, _ in run_time_classes(panel.run)]
    name = category_of(attribute, jobs)
    of_job = {
        (panel.run.name, number): name(about)
        for panel in found
        for number, about in panel.window.jobs.items()
    }
    of_category = category_colours(attribute, jobs, list(dict.fromkeys(classes)))
    if any(panel.window.down for panel in found):
        of_category[_OUT] = _DOWN
    return _Colours(attribute, of_category, of_job)


def _with_marks(
    charts: Sequence[alt.Chart], marked: Sequence[MarkedSpan], time: TimeAxis
) -> alt.LayerChart:
    """Return charts on top of each other, with spans of time shaded over the whole height."""
    if not marked:
        return layers(*charts)
    spans = rows(
        begin=time.places(span.begin for span in marked),
        end=time.places(span.end for span in marked),
    )
    bounds = rows(time=time.places(bound for span in marked for bound in span))

    def shade(colour: str, opacity: float) -> alt.Chart:
        mark = chart_of(spans).mark_rect(color=colour, opacity=opacity)
        shaded: alt.Chart = mark.encode(x=time.x("begin"), x2="end")
        return shaded

    return layers(
        shade(_IDLE, 1.0),
        *charts,
        # Black darkens the jobs and leaves their hues, by which the legend names them.
        shade("black", _DARKER),
        chart_of(bounds).mark_rule(strokeWidth=1.2, strokeDash=[3, 2]).encode(x=time.x("time")),
    )


def _strip(panel: _Panel, time: TimeAxis) -> alt.Chart:
    """Return the use of the resource type over time, as a strip without labels of time."""
    window = panel.window
    percent = percent_in_use(panel.run, window.system, panel.resource)
    edges, means, _ = binned(spanning(percent, window.begin, window.end), STEPS)
    # The last value is drawn up to the end of its span.
    data = rows(time=time.places(edges.tolist()), used=np.concatenate((means, means[-1:])))
    chart: alt.Chart = (
        chart_of(data)
        .mark_area(interpolate="step-after", color="#8c8c8c", clip=True)
        .encode(
            x=time.x("time", labelled=False),
            y=alt.Y(
                "used:Q",
                scale=alt.Scale(domain=[0, 100]),
                axis=alt.Axis(title=f"{panel.resource} [%]", values=[0, 50, 100]),
            ),
        )
    )
    return chart


def _nodes(
    panel: _Panel, time: TimeAxis, colours: _Colours, size: tuple[int, int], *, labelled: bool
) -> list[alt.Chart]:
    """Return the rectangles of jobs and outages on the nodes."""
    window = panel.window
    row_of = {node: row for row, node in enumerate(window.nodes)}
    many = len(window.rectangles) > _MANY
    data = (_merged_jobs if many else _single_jobs)(panel, time, colours, size)
    down = rows(
        category=_OUT,
        colour=_DOWN,
        begin=time.places(one.begin for one in window.down),
        end=time.places(one.end for one in window.down),
        top=[row_of[one.node] for one in window.down],
        bottom=[row_of[one.node] + one.nodes for one in window.down],
    )
    axis = _node_axis(panel)

    def y(field: str) -> alt.Y:
        scale = alt.Scale(domain=[0, len(window.nodes)], reverse=True, nice=False)
        # Layers merge their axes: one without this would thin out its labels.
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    x = time.x("begin", labelled=labelled)
    places: dict[str, Any] = {"x": x, "x2": "end", "y": y("top"), "y2": "bottom:Q"}
    told = ["category:N", time.tooltip("begin"), time.tooltip("end")]
    found = [
        chart_of(down).mark_rect(clip=True, aria=False).encode(**places, color=_colour(colours)),
        chart_of(data)
        # Descriptions for screen readers would be most of a file, one for each rectangle.
        .mark_rect(stroke=None if many else "white", clip=True, aria=False)
        .encode(
            **places,
            **({} if many else {"strokeWidth": alt.StrokeWidth("edge:Q", scale=None, legend=None)}),
            color=_colour(colours),
            tooltip=told if many else ["job:Q", "node:N", *told],
        ),
        chart_of(rows(row=_borders(window))).mark_rule(strokeWidth=0.5).encode(y=y("row")),
    ]
    if len(window.rectangles) <= _NUMBERED:
        shown = [job for job in window.rectangles if _has_room(job, window, size[1])]
        numbers = rows(
            job=[str(job.job_id) for job in shown],
            x=time.places((job.begin + job.end) / 2 for job in shown),
            y=[row_of[job.node] + (job.low + job.high) / 2 for job in shown],
            ink=[
                ink_on(_fill(colours, job, colours.of_job[panel.run.name, job.job_id]))
                for job in shown
            ],
        )
        found.append(
            chart_of(numbers)
            .mark_text(fontSize=6, clip=True)
            .encode(
                x=time.x("x", labelled=labelled),
                y=y("y"),
                text="job:N",
                color=alt.Color("ink:N", scale=None),
            )
        )
    return found


def _single_jobs(
    panel: _Panel, time: TimeAxis, colours: _Colours, size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return a row of data for each rectangle."""
    window, jobs = panel.window, panel.window.rectangles
    row_of = {node: row for row, node in enumerate(window.nodes)}
    categories = [colours.of_job[panel.run.name, job.job_id] for job in jobs]
    across, down = size[0] / (window.end - window.begin), size[1] / len(window.nodes)
    return rows(
        job=[job.job_id for job in jobs],
        node=[_nodes_text(window, job) for job in jobs],
        begin=time.places(job.begin for job in jobs),
        end=time.places(job.end for job in jobs),
        top=[row_of[job.node] + job.low for job in jobs],
        bottom=[row_of[job.node] + job.high for job in jobs],
        category=categories,
        colour=[_fill(colours, job, one) for job, one in zip(jobs, categories, strict=True)],
        edge=[
            0.3
            if min((job.end - job.begin) * across, (job.high - job.low) * down) >= _EDGED
            else 0.0
            for job in jobs
        ],
    )


def _merged_jobs(
    panel: _Panel, time: TimeAxis, colours: _Colours, size: tuple[int, int]
) -> list[dict[str, Any]]:
    """Return a row of data for each rectangle of jobs of one colour."""
    window = panel.window
    row_of = {node: row for row, node in enumerate(window.nodes)}
    by_job = colours.by == "job"
    rectangles = [
        MergedRectangle(
            job.begin,
            job.end,
            row_of[job.node] + job.low,
            row_of[job.node] + job.high,
            job_colour(job.job_id) if by_job else colours.of_job[panel.run.name, job.job_id],
        )
        for job in window.rectangles
    ]
    found = merged(rectangles, (window.begin, window.end, len(window.nodes)), size)
    return rows(
        begin=time.places(one.begin for one in found),
        end=time.places(one.end for one in found),
        top=[one.top for one in found],
        bottom=[one.bottom for one in found],
        category=[one.category for one in found],
        colour=[one.category if by_job else colours.of_category[one.category] for one in found],
    )


def _fill(colours: _Colours, job: JobRectangle, category: str) -> str:
    return job_colour(job.job_id) if colours.by == "job" else colours.of_category[category]


def _colour(colours: _Colours) -> alt.Color:
    """Return the colours of jobs, with a legend of their categories."""
    if colours.by == "job":
        return alt.Color("colour:N", scale=None)
    scale = alt.Scale(domain=list(colours.of_category), range=list(colours.of_category.values()))
    legend = alt.Legend(columns=4, symbolType="square", symbolSize=60, symbolStrokeWidth=0)
    return alt.Color("category:N", scale=scale, legend=legend)


def _height(window: Window, panels_drawn: int) -> int:
    """Return the height of the panel of nodes, in points."""
    most = min(_MOST, _ALL // panels_drawn)
    return max(min(_ROW * len(window.nodes), most), _LEAST)


def _has_room(job: JobRectangle, window: Window, height: int) -> bool:
    """Return whether a rectangle has room for the number of its job."""
    wide = job.end - job.begin > _LEGIBLE * (window.end - window.begin)
    return wide and (job.high - job.low) * height / len(window.nodes) >= _TALL


def _nodes_text(window: Window, job: JobRectangle) -> str:
    """Return the name of the node of a rectangle, or of the first and the last."""
    first = window.system.node_name(job.node)
    if job.high <= 1:
        return first
    return f"{first} to {window.system.node_name(job.node + round(job.high) - 1)}"


def _borders(window: Window) -> list[int]:
    """Return the rows at which another group of nodes begins."""
    groups = [int(window.system.group_of[node]) for node in window.nodes]
    return [row for row in range(1, len(groups)) if groups[row - 1] != groups[row]]


def _node_axis(panel: _Panel) -> alt.Axis:
    """Return an axis that names each of a few nodes, else each group with its number of nodes."""
    window = panel.window
    size = 6.5 if len(window.nodes) <= _NAMED else 8.0
    if len(window.nodes) <= _NAMED:
        places = [row + 0.5 for row in range(len(window.nodes))]
        names = [window.system.node_name(node) for node in window.nodes]
    else:
        bounds = [0, *_borders(window), len(window.nodes)]
        spans = list(pairwise(bounds))
        places = [(low + high) / 2 for low, high in spans]
        names = [f"{_group_name(window, low)} × {high - low}" for low, high in spans]
    return alt.Axis(
        title=f"nodes, by share of {panel.resource}", values=places,
        labelExpr=texts_at(places, names), labelFontSize=size, labelOverlap=False,
        ticks=False, grid=False,
    )  # fmt: skip


def _group_name(window: Window, row: int) -> str:
    return window.system.groups[int(window.system.group_of[window.nodes[row]])].name
