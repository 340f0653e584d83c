"""The figure of the load over time: queue, resource use, shared resources, nodes out of service."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from hpcsched.metrics.over_time import OverTime, binned
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    STEPS,
    Figure,
    lines,
    panels,
    plot_width,
    rows,
    sized,
)
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.figures.run_series import LoadSeries, load_series
from hpcsched.report.figures.time_axis import TimeAxis, axis_of_trace

_OFFERED = Look("#999999", 0, "capacity of a shared resource")
"""Line of the offered amount of a shared resource."""


def load_figure(
    compared: ComparedStudy, resource: str | None = None, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of the load over time, by trace, as in `load_series`.

    A grey line shows the offered amount of a shared resource.

    Parameters
    ----------
    resource
        Resource type; None: all that some node has.
    """
    found = load_series(compared, resource)
    drawn = configuration_looks(compared)
    # In all panels, since they share the scale of colours: Vega gives a name that only one panel
    # has the colour of another.
    if any(panel.limits for panel in found):
        drawn["offered"] = _OFFERED
    charts = [
        _panel(compared, panel, group, drawn, width, titled=panel is found[0])
        for group in compared.study.groups
        for panel in found
    ]
    caption = f"Means over {STEPS} spans of time; the first seed of each configuration."
    return Figure("load", "Load over time", caption, panels(charts, columns=1))


def _panel(
    compared: ComparedStudy,
    panel: LoadSeries,
    group: str,
    drawn: Mapping[str, Look],
    width: int,
    *,
    titled: bool,
) -> alt.Chart:
    series = {one: panel.series[one, group] for one in drawn if (one, group) in panel.series}
    # The capacity of a shared resource is that of the trace's system: one line will do.
    limit = next((line for case, line in panel.limits.items() if case[1] == group), None)
    if limit is not None:
        series = {"offered": limit, **series}
    time = axis_of_trace(compared, group, [line.instants for line in series.values()])
    data = [
        row
        for configuration, line in series.items()
        for row in _line_rows(configuration, line, time)
    ]  # fmt: skip
    y = alt.Y("value:Q", axis=alt.Axis(title=panel.axis), scale=alt.Scale(zero=True))
    told = time.tooltip("time"), "value:Q"
    # The page zooms it, so that the axis is not bounded.
    chart = lines(data, time.x("time", bounded=False), y, drawn, told=told, width=width, stroke=1.1)
    return sized(chart, (plot_width(width), round(0.16 * width)), group if titled else "")


def _line_rows(configuration: str, line: OverTime, time: TimeAxis) -> list[dict[str, object]]:
    edges, means, _ = binned(line, STEPS)
    # The last value is drawn up to the end of its span.
    values = np.concatenate((means, means[-1:]))
    return rows(configuration=configuration, time=time.places(edges.tolist()), value=values)
