"""Figures of the report page as data for Plotly, aggregated so that the page stays small.

A page opens quickly for any number of jobs: boxes are five numbers each, distribution functions
have a few hundred steps, and time series are means over as many spans.
"""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.over_time import OverTime, binned
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.boxes import box_of
from hpcsched.report.figures.decision_times import by_queue_length
from hpcsched.report.figures.figure_style import INK, Look
from hpcsched.report.figures.load_series import load_series
from hpcsched.report.figures.pictures import (
    bars_of,
    contender_looks,
    metric_title,
    pooled,
    title_of,
)

STEPS = 300
"""Number of steps of thinned distribution functions and time series."""
_DAY = 86_400
_HEIGHT, _BELOW, _PAGE = 400, 70, 1000
"""How high a picture is without its legend, and of that what is below the axis; how wide the page
is at least taken to be: pixels of the screen."""
_DASHES = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_PATTERNS = ("", "/", ".", "x", "\\", "+")
"""Plotly's names of the lines and hatches of `figure_style`, in their order."""
_OFFERED = MappingProxyType(
    {
        "type": "scatter",
        "name": "offered",
        "legendgroup": "offered",
        "mode": "lines",
        "line": {"color": "#999999", "width": 1, "shape": "hv"},
    }
)
"""Line of the offered amount of a shared resource."""
_FONT = {"family": "sans-serif", "size": 13, "color": INK}


class PageFigure(NamedTuple):
    """A figure of the page.

    Attributes
    ----------
    name
        Key of its place in the page.
    title, caption
        Heading, and description below the figure.
    data
        Plotly traces; those of a contender share its name as `legendgroup`.
    layout
        Plotly layout.
    """

    name: str
    title: str
    caption: str
    data: Sequence[Mapping[str, Any]]
    layout: Mapping[str, Any]


def page_figures(compared: ComparedStudy) -> Iterator[PageFigure]:
    """Yield the figures of a study.

    Raises
    ------
    InputError
        A file of a run is damaged.
    """
    room = _room_for_legend(compared.study.contenders)
    for figure in _all_figures(compared):
        margin = {**figure.layout["margin"], "b": _BELOW + room}
        sized = {**figure.layout, "margin": margin, "height": _HEIGHT + room}
        yield figure._replace(layout=sized)


def _all_figures(compared: ComparedStudy) -> Iterator[PageFigure]:
    yield _metric_bars(compared)
    for quantity in ("bounded_slowdown", "wait_time"):
        yield _boxes(compared, quantity)
        yield from _shares(compared, quantity)
    yield from _load(compared)
    yield _decision_times(compared)


def _room_for_legend(names: Sequence[str]) -> int:
    """Return the approximate height of the legend below a figure, in pixels.

    Its columns are as wide as the longest name, and together no wider than the page.
    """
    columns = max(_PAGE // (55 + 8 * max(map(len, names))), 1)
    return 20 * -(-len(names) // columns)


def _metric_bars(compared: ComparedStudy) -> PageFigure:
    metrics = dict.fromkeys(
        name
        for one in compared.study.runs
        for name, value in one.run.summary["metrics"].items()
        if value is not None
    )
    drawn = contender_looks(compared)
    data: list[dict[str, Any]] = []
    shown_by: list[list[bool]] = []
    for metric in metrics:
        found = bars_of(compared, metric)
        first = metric == next(iter(metrics))
        for contender, look in drawn.items():
            groups = [group for group in compared.study.groups if (contender, group) in found]
            intervals = [found[contender, group] for group in groups]
            above = [i.upper - i.mean for i in intervals]
            data.append(
                {
                    **_about(contender, look, "bar"),
                    "x": groups,
                    "y": _short([i.mean for i in intervals]),
                    "visible": first,
                    "error_y": {
                        "type": "data",
                        "symmetric": False,
                        "array": _short(above),
                        "arrayminus": _short([i.mean - i.lower for i in intervals]),
                        "visible": any(width > 0 for width in above),
                        "thickness": 1,
                        "color": INK,
                    },
                }
            )
    for k in range(len(metrics)):
        own = range(k * len(drawn), (k + 1) * len(drawn))
        shown_by.append([trace in own for trace in range(len(data))])
    buttons = [
        {
            "label": metric,
            "method": "update",
            "args": [{"visible": shown}, {"yaxis.title.text": metric_title(compared, metric)}],
        }
        for metric, shown in zip(metrics, shown_by, strict=True)
    ]
    title = metric_title(compared, next(iter(metrics), ""))
    layout = _layout("", title) | {"barmode": "group", "margin": {"t": 60, "r": 20}}
    if buttons:
        layout["updatemenus"] = [
            {"buttons": buttons, "x": 0, "xanchor": "left", "y": 1.18, "yanchor": "top"}
        ]
    caption = (
        "Choose a metric above the picture. Whiskers: 95 % intervals, over seeds where there are"
        " several, else over jobs for metrics that are means over jobs; none otherwise."
    )
    return PageFigure("metrics", "Metrics", caption, data, layout)


def _boxes(compared: ComparedStudy, quantity: str) -> PageFigure:
    values = pooled(compared, quantity)
    data = []
    for contender, look in contender_looks(compared).items():
        groups = [g for g in compared.study.groups if len(values.get((contender, g), ()))]
        boxes = [box_of(np.maximum(values[contender, group], 1)) for group in groups]
        data.append(
            {
                **_about(contender, look, "box"),
                "x": groups,
                "lowerfence": _short([box.least for box in boxes]),
                "q1": _short([box.lower for box in boxes]),
                "median": _short([box.median for box in boxes]),
                "q3": _short([box.upper for box in boxes]),
                "upperfence": _short([box.largest for box in boxes]),
                "mean": _short([box.mean for box in boxes]),
                "fillcolor": look.colour,
                "line": {"color": INK, "width": 1},
                "boxpoints": False,
            }
        )
    layout = _layout("", title_of(compared, quantity), y_log=True) | {"boxmode": "group"}
    caption = (
        "From the first to the third quartile, with lines at the median and dashed ones at the"
        " mean; whiskers to the least and largest value. What is below 1 is drawn as 1."
    )
    title = f"{quantity.replace('_', ' ').capitalize()}: boxes"
    return PageFigure(f"boxes-{quantity}", title, caption, data, layout)


def _shares(compared: ComparedStudy, quantity: str) -> Iterator[PageFigure]:
    values = pooled(compared, quantity)
    for number, group in enumerate(compared.study.groups):
        data = []
        for contender, look in contender_looks(compared).items():
            own = values.get((contender, group))
            if own is None or not len(own):
                continue
            x, y = thinned_shares(np.maximum(own, 1))
            line = {"color": look.colour, "dash": _DASHES[look.style], "shape": "hv"}
            about = {**_about(contender, look, "scatter"), "mode": "lines", "line": line}
            data.append({**about, "x": _short(x), "y": _short(y)})
        layout = _layout(title_of(compared, quantity), "jobs up to it [%]", x_log=True)
        layout["yaxis"]["range"] = [0, 101]
        title = f"{quantity.replace('_', ' ').capitalize()}: shares of jobs, {group}"
        caption = f"Thinned to {STEPS} steps at most. What is below 1 is drawn as 1."
        yield PageFigure(f"shares-{quantity}-{number}", title, caption, data, layout)


def thinned_shares(values: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    """Return a thinned distribution function.

    Parameters
    ----------
    values
        Values of all jobs, at least one.

    Returns
    -------
    tuple
        Some of the values, ascending, with the least and the largest; and the percentage of all
        values up to each. Neighbours are as far apart in percent as `STEPS` steps allow.
    """
    occurring, counts = np.unique(values, return_counts=True)
    percent = 100 * np.cumsum(counts) / len(values)
    wanted = np.linspace(0, 100, STEPS)
    places = np.unique(np.minimum(np.searchsorted(percent, wanted), len(percent) - 1))
    places = np.unique(np.concatenate(([0], places, [len(percent) - 1])))
    return occurring[places], percent[places]


def _load(compared: ComparedStudy) -> Iterator[PageFigure]:
    panels = load_series(compared, None)
    for number, group in enumerate(compared.study.groups):
        for k, panel in enumerate(panels):
            data = []
            limit = next((c for case, c in panel.limits.items() if case[1] == group), None)
            if limit is not None:
                data.append({**_OFFERED, **_steps(limit)})
            for contender, look in contender_looks(compared).items():
                if (contender, group) not in panel.series:
                    continue
                line = {"color": look.colour, "dash": _DASHES[look.style], "shape": "hv"}
                about = {**_about(contender, look, "scatter"), "mode": "lines", "line": line}
                data.append({**about, **_steps(panel.series[contender, group])})
            if not data and k > 1:
                continue
            layout = _layout("days since the trace's origin", panel.axis)
            layout["yaxis"]["rangemode"] = "tozero"
            caption = f"Means over {STEPS} spans of time; the first seed of each contender."
            shown = f"{panel.title} over time, {group}"
            yield PageFigure(f"load-{number}-{k}", shown, caption, data, layout)


def _steps(series: OverTime) -> dict[str, Any]:
    """Return the coordinates of a time series as steps, in days."""
    edges, means, _ = binned(series, STEPS)
    return {"x": _short(edges / _DAY), "y": _short(np.concatenate((means, means[-1:])))}


def _decision_times(compared: ComparedStudy) -> PageFigure:
    data = []
    drawn = contender_looks(compared)
    named: set[str] = set()
    for one in compared.study.runs:
        look = drawn[one.contender]
        bins = list(by_queue_length(one))
        line = {"color": look.colour, "dash": _DASHES[look.style]}
        about = {**_about(one.contender, look, "scatter"), "mode": "lines+markers", "line": line}
        p90 = [b.p90 - b.p50 for b in bins]
        data.append(
            {
                **about,
                "showlegend": one.contender not in named,
                "x": [float(np.sqrt(max(b.queue_from, 1) * max(b.queue_to, 1))) for b in bins],
                "y": _short([b.p50 for b in bins]),
                "text": [
                    f"{one.name}: {b.queue_from} to {b.queue_to} jobs, {b.rounds} rounds"
                    for b in bins
                ],
                "error_y": {
                    "type": "data", "symmetric": False, "array": _short(p90),
                    "arrayminus": [0] * len(bins), "thickness": 1,
                },
            }
        )  # fmt: skip
        named.add(one.contender)
    layout = _layout(
        "jobs in the queue before the round", "decision time [real s]", x_log=True, y_log=True
    )
    caption = (
        "Medians over rounds by queue length, each bin twice as wide as the one before it; whiskers"
        " up to the 90th percentile. Measured: it differs from machine to machine."
    )
    return PageFigure("decision-time", "Decision time by queue length", caption, data, layout)


def _about(contender: str, look: Look, kind: str) -> dict[str, Any]:
    about: dict[str, Any] = {"type": kind, "name": contender, "legendgroup": contender}
    about["marker"] = {"color": look.colour}
    if kind == "bar":
        about["marker"]["pattern"] = {"shape": _PATTERNS[look.style]}
    return about


def _layout(x: str, y: str, *, x_log: bool = False, y_log: bool = False) -> dict[str, Any]:
    def axis(title: str, *, logarithmic: bool) -> dict[str, Any]:
        found: dict[str, Any] = {"title": {"text": title}, "gridcolor": "#dddddd"}
        if logarithmic:
            # Powers of ten alone: 2 and 5 between them would be hard to tell from 20 and 50.
            found |= {"type": "log", "dtick": 1, "exponentformat": "power"}
        return found

    return {
        "font": _FONT,
        "paper_bgcolor": "white",
        "plot_bgcolor": "white",
        "margin": {"t": 20, "r": 20},
        "showlegend": True,
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom"},
        "xaxis": axis(x, logarithmic=x_log),
        "yaxis": axis(y, logarithmic=y_log),
    }


def _short(values: Sequence[float] | FloatColumn) -> list[float]:
    """Return values rounded to six significant digits, more than can be seen."""
    return [float(f"{value:.6g}") for value in values]
