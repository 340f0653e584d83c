"""The figure of a Gantt chart: time to the right, nodes downwards, jobs as rectangles.

Above each is a strip with the use of the resource type over the same time.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np

from hpcsched.metrics.over_time import binned, spanning
from hpcsched.report.compared_study import ComparedStudy
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
)
from hpcsched.report.figures.figure_style import INK, PALETTE, PAPER_WIDTH
from hpcsched.report.figures.gantt import JobAbout, JobRectangle, Time, Window, gantt_windows
from hpcsched.report.figures.time_axis import TimeAxis, time_axis
from hpcsched.report.run_series import percent_in_use

By = Literal["user", "size", "job"]
"""Attributes of jobs that colours can show; `job` only tells neighbours apart."""

_OTHERS, _DOWN, _OUT = "others", "#595959", "out of service"
_LARGEST_SHOWN = 7
"""Largest number of users with a colour of their own."""
_USER_COLOURS = ("blue", "orange", "green", "purple", "sky blue", "vermilion", "yellow", "grey")
_JOB_COLOURS = ("sky blue", "orange", "green", "yellow", "purple", "light grey")
_SIZES = {
    1: ("1 node", "#FDE725"),
    4: ("2 to 4 nodes", "#5EC962"),
    16: ("5 to 16 nodes", "#21918C"),
    64: ("17 to 64 nodes", "#3B528B"),
    np.inf: ("more than 64 nodes", "#440154"),
}
"""Name and colour of each class of sizes, light to dark, by its largest number of nodes."""
_FEW = 200
"""Largest number of rectangles with edges, and with job numbers where there is room."""
_LEGIBLE, _TALL = 0.02, 6.0
"""Least width, as a share of the window, and height, in points, for a number."""
_NAMED = 24
"""Largest number of nodes named one by one; of more, only their groups are."""
_ROW, _LEAST, _MOST, _ALL = 15, 60, 440, 900
"""Height of a node's row, least and largest height of a panel, and of all panels, in points."""
_STRIP = 36
"""Height of the strip of the use of the resource type, in points."""


class _Colours(NamedTuple):
    """Colour of each category in the order of the legend, and category of each job by run."""

    of_category: Mapping[str, str]
    of_job: Mapping[tuple[str, int], str]


def gantt_figure(
    compared: ComparedStudy,
    resource: str | None = None,
    begin: Time | None = None,
    end: Time | None = None,
    *,
    by: By | None = None,
    width: int = PAPER_WIDTH,
) -> Figure:
    """Return the figure of a Gantt chart, with a panel for each run.

    Parameters
    ----------
    resource
        Resource type; None is the system's first.
    begin, end
        Bounds, as in `simulated_second`; None is the first start or the last end.
    by
        Attribute of jobs that colours show; None is the user if there are several, else the size.
    """
    study = compared.study
    found = list(gantt_windows(study.runs, resource, begin, end))
    colours = _colours(found, by)
    charts: list[Chart] = []
    for place, window in enumerate(found):
        # The axis of the last panel is that of all above it that have the same trace.
        last = place + 1 == len(found) or found[place + 1].run.group != window.run.group
        height = max(min(_ROW * len(window.nodes), _MOST, _ALL // len(found)), _LEAST)
        title = study.run_labels[window.run.name] if len(study.runs) > 1 else ""
        time = time_axis(window.begin, window.end, window.run.run.calendar)
        nodes = _nodes(window, time, colours, height, labelled=last)
        charts += [
            sized(_strip(window, time), (plot_width(width), _STRIP), title),
            sized(layers(*nodes), (plot_width(width), height)),
        ]
    caption = (
        "A rectangle for each job on its nodes, as high as its share of a node; dark grey where a"
        " node is out of service. Above: use of the resource type, in percent of all nodes."
    )
    return Figure("gantt", "Jobs on nodes", caption, panels(charts, columns=1))


def _colours(found: Sequence[Window], by: By | None) -> _Colours:
    """Return the colours of jobs, alike in all panels."""
    jobs = {(one.run.name, job): about for one in found for job, about in one.jobs.items()}
    if by is None:
        users = {about.user for about in jobs.values()} - {None}
        by = "user" if len(users) > 1 else "size"
    if by == "job":
        of_job = {(run, job): str(job % len(_JOB_COLOURS)) for run, job in jobs}
        of_category = {str(k): PALETTE[name] for k, name in enumerate(_JOB_COLOURS)}
    elif by == "size":
        of_job = {key: _size(about) for key, about in jobs.items()}
        used = set(of_job.values())
        of_category = {name: colour for name, colour in _SIZES.values() if name in used}
    else:
        areas: Counter[int | None] = Counter()
        for about in (about for one in found for about in one.jobs.values()):
            areas[about.user] += about.area
        largest = sorted(areas, key=lambda user: (-areas[user], user is None, user or 0))
        # A category of one user less would not be shorter.
        count = _LARGEST_SHOWN if len(largest) > len(_USER_COLOURS) else len(largest)
        names = {user: "no user" if user is None else f"user {user}" for user in largest[:count]}
        of_job = {key: names.get(about.user, _OTHERS) for key, about in jobs.items()}
        shades = [PALETTE[name] for name in _USER_COLOURS]
        of_category = dict(zip(names.values(), shades, strict=False))
        if count < len(largest):
            of_category[_OTHERS] = "#D5D5D5"
    if any(window.down for window in found):
        of_category[_OUT] = _DOWN
    return _Colours(of_category, of_job)


def _size(about: JobAbout) -> str:
    return next(name for most, (name, _) in _SIZES.items() if about.nodes <= most)


def _strip(window: Window, time: TimeAxis) -> alt.Chart:
    """Return the use of the resource type over time, as a strip without labels of time."""
    percent = percent_in_use(window.run, window.system, window.resource)
    edges, means, _ = binned(spanning(percent, window.begin, window.end), STEPS)
    # The last value is drawn up to the end of its span.
    data = rows(time=time.places(edges.tolist()), used=np.concatenate((means, means[-1:])))
    axis = alt.Axis(title=f"{window.resource} [%]", values=[0, 50, 100])
    chart: alt.Chart = (
        chart_of(data)
        .mark_area(interpolate="step-after", color="#8c8c8c", clip=True)
        .encode(
            x=time.x("time", labelled=False),
            y=alt.Y("used:Q", scale=alt.Scale(domain=[0, 100]), axis=axis),
        )
    )
    return chart


def _nodes(
    window: Window, time: TimeAxis, colours: _Colours, height: int, *, labelled: bool
) -> list[alt.Chart]:
    """Return the rectangles of jobs and outages on the nodes."""
    jobs, few = window.rectangles, len(window.rectangles) <= _FEW
    row_of = {node: row for row, node in enumerate(window.nodes)}
    categories = [colours.of_job[window.run.name, job.job_id] for job in jobs]
    data = rows(
        job=[job.job_id for job in jobs],
        node=[_nodes_text(window, job) for job in jobs],
        begin=time.places(job.begin for job in jobs),
        end=time.places(job.end for job in jobs),
        top=[row_of[job.node] + job.low for job in jobs],
        bottom=[row_of[job.node] + job.high for job in jobs],
        category=categories,
    )
    down = rows(
        category=_OUT,
        begin=time.places(one.begin for one in window.down),
        end=time.places(one.end for one in window.down),
        top=[row_of[one.node] for one in window.down],
        bottom=[row_of[one.node] + 1 for one in window.down],
    )
    axis = _node_axis(window)

    def y(field: str) -> alt.Y:
        scale = alt.Scale(domain=[0, len(window.nodes)], reverse=True, nice=False)
        # Layers merge their axes: one without this would thin out its labels.
        return alt.Y(f"{field}:Q", scale=scale, axis=axis)

    x = time.x("begin", labelled=labelled)
    shown = alt.Scale(domain=list(colours.of_category), range=list(colours.of_category.values()))
    # Categories that are numbers only tell neighbours apart.
    legend = (
        None
        if "0" in colours.of_category
        else alt.Legend(columns=4, symbolType="square", symbolSize=60, symbolStrokeWidth=0)
    )
    places: dict[str, Any] = {
        "x": x,
        "x2": "end",
        "y": y("top"),
        "y2": "bottom:Q",
        "color": alt.Color("category:N", scale=shown, legend=legend),
    }
    told = ["job:Q", "node:N", "category:N", time.tooltip("begin"), time.tooltip("end")]
    edges: dict[str, Any] = {"stroke": "white", "strokeWidth": 0.3} if few else {}
    found = [
        # Descriptions for screen readers would be most of a file, one for each rectangle.
        chart_of(down).mark_rect(clip=True, aria=False).encode(**places),
        chart_of(data).mark_rect(clip=True, aria=False, **edges).encode(**places, tooltip=told),
        chart_of(rows(row=_borders(window))).mark_rule(strokeWidth=0.5).encode(y=y("row")),
    ]
    if few:
        least = _LEGIBLE * (window.end - window.begin)
        roomy = [
            (job, category)
            for job, category in zip(jobs, categories, strict=True)
            if job.end - job.begin > least
            and (job.high - job.low) * height / len(window.nodes) >= _TALL
        ]
        numbers = rows(
            job=[str(job.job_id) for job, _ in roomy],
            x=time.places((job.begin + job.end) / 2 for job, _ in roomy),
            y=[row_of[job.node] + (job.low + job.high) / 2 for job, _ in roomy],
            ink=[_ink_on(colours.of_category[category]) for _, category in roomy],
        )
        text = (
            chart_of(numbers)
            .mark_text(fontSize=6, clip=True)
            .encode(
                x=time.x("x", labelled=labelled),
                y=y("y"),
                text="job:N",
                color=alt.Color("ink:N", scale=None),
            )
        )
        found.append(text)
    return found


def _ink_on(colour: str) -> str:
    """Return the colour of text on an area: white on dark ones."""
    red, green, blue = (int(colour[k : k + 2], 16) for k in (1, 3, 5))
    # Weights of the luminance of the three colours, as the eye sees them (ITU-R BT.709).
    return INK if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 110 else "#ffffff"


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


def _node_axis(window: Window) -> alt.Axis:
    """Return an axis that names each of a few nodes, else each group with its number of nodes."""
    nodes, system = window.nodes, window.system
    size = 6.5 if len(nodes) <= _NAMED else 8.0
    if len(nodes) <= _NAMED:
        names = {row + 0.5: system.node_name(node) for row, node in enumerate(nodes)}
    else:
        names = {
            (low + high)
            / 2: f"{system.groups[int(system.group_of[nodes[low]])].name} × {high - low}"
            for low, high in pairwise([0, *_borders(window), len(nodes)])
        }
    # Vega-Lite evaluates the expression for each mark; texts of JSON are texts there.
    label = f"{json.dumps(list(names.values()))}[indexof({json.dumps(list(names))}, datum.value)]"
    return alt.Axis(
        title=f"nodes, by share of {window.resource}", values=list(names), labelExpr=label,
        labelFontSize=size, labelOverlap=False, ticks=False, grid=False,
    )  # fmt: skip
