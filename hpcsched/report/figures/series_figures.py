"""Figures of the load and of chosen dispatchers over time, and of decision times."""

import altair as alt
import numpy as np

from hpcsched.metrics.over_time import OverTime, binned
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    STEPS,
    Chart,
    Figure,
    chart_of,
    colours,
    dashes,
    layers,
    panels,
    plot_width,
    rows,
    sized,
    stepped_lines,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.figures.time_axis import TimeAxis, axis_of_trace
from hpcsched.report.run_series import decision_times, load_series

_OFFERED = Look("#999999", 0, "capacity of a shared resource")
"""Line of the offered amount of a shared resource."""
_TIME = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s'"
    " : datum.value >= 1e-3 ? format(datum.value * 1e3, '.3~g') + ' ms'"
    " : datum.value >= 1e-6 ? format(datum.value * 1e6, '.3~g') + ' µs'"
    " : format(datum.value * 1e9, '.3~g') + ' ns'"
)
"""Vega expression of a label: decision times are from some ns to minutes."""


def load_figure(
    compared: ComparedStudy, resource: str | None = None, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of the load over time, by trace; of each configuration the first seed.

    A grey line shows the offered amount of a shared resource.

    Parameters
    ----------
    resource
        Resource type; None: all that some node has.
    """
    # Lines by trace, title of the panel, and configuration.
    found: dict[str, dict[str, dict[str, OverTime]]] = {one: {} for one in compared.study.groups}
    drawn = configuration_looks(compared)
    for one in compared.study.runs:
        for series in load_series(one, compared.jobs[one.name], resource):
            title = f"{series.quantity.replace('_', ' ')} [{series.unit}]"
            lines = found[one.group].setdefault(title, {})
            if series.offered is not None:
                lines.setdefault("offered", series.offered)
                # In all panels, since they share the scale of colours.
                drawn["offered"] = _OFFERED
            # Lines of several seeds would hide each other, and their mean would hide peaks.
            lines.setdefault(one.configuration, series.values)
    charts: list[Chart] = []
    size = plot_width(width), round(0.16 * width)
    for group, of_group in found.items():
        for number, (title, lines) in enumerate(of_group.items()):
            time = axis_of_trace(compared, group, [line.instants for line in lines.values()])
            data = [row for name, line in lines.items() for row in _line_rows(name, line, time)]
            y = alt.Y("value:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=True))
            told = time.tooltip("time"), "value:Q"
            # The page zooms it, so that the axis is not bounded.
            x = time.x("time", bounded=False)
            chart = stepped_lines(data, x, y, drawn, width, told=told, stroke=1.1)
            charts.append(sized(chart, size, "" if number else group))
    caption = f"Means over {STEPS} spans of time; the first seed of each configuration."
    return Figure("load", "Load over time", caption, panels(charts, columns=1))


def _line_rows(configuration: str, line: OverTime, time: TimeAxis) -> list[dict[str, object]]:
    edges, means, _ = binned(line, STEPS)
    # The last value is drawn up to the end of its span.
    values = np.concatenate((means, means[-1:]))
    places = time.places(edges[: len(values)].tolist())
    return rows(configuration=configuration, time=places, value=values)


def decision_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the medians of decision times by queue length, a line for each run."""
    data, drawn = [], configuration_looks(compared)
    for one in compared.study.runs:
        bins = [own for own in decision_times(one) if own.p50 > 0]
        data += rows(
            configuration=one.configuration,
            run=one.name,
            # Geometric middle of the bin, as the axis is logarithmic.
            queued=[float(np.sqrt(max(b.queue_from, 1) * max(b.queue_to, 1))) for b in bins],
            seconds=[own.p50 for own in bins],
            p90=[own.p90 for own in bins],
            rounds=[own.rounds for own in bins],
        )
    x_scale, x_marks = value_scale([np.array([row["queued"] for row in data])])
    y_scale, y_marks = value_scale([np.array([row["seconds"] for row in data])])
    title = "jobs in the queue before the round (none counts as one)"
    times = alt.Axis(title="median decision time (wall clock)", values=y_marks, labelExpr=_TIME)
    median = chart_of(data).encode(
        x=alt.X("queued:Q", scale=x_scale, axis=value_axis(title, x_marks)),
        y=alt.Y("seconds:Q", scale=y_scale, axis=times),
        detail=["run:N", "configuration:N"],
        color=colours(drawn, width),
        tooltip=["run:N", "queued:Q", "seconds:Q", "p90:Q", "rounds:Q"],
    )
    chart = layers(
        median.mark_line(strokeWidth=1.6).encode(strokeDash=dashes(drawn, width)),
        median.mark_point(filled=True, size=18, stroke="white", strokeWidth=0.5, opacity=1),
    )
    size = plot_width(width), round(0.42 * width)
    caption = (
        "Medians by queue length, each range twice as wide as the one before it. Measured: it"
        " differs from machine to machine."
    )
    return Figure("decision-time", "Decision time by queue length", caption, sized(chart, size))
