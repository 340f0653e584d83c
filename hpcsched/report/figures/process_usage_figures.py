"""Figures of CPU time and memory of the simulating process.

Source: Galleguillos, thesis 2020, figure 3.9a.
"""

import altair as alt
import numpy as np

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    STEPS,
    Figure,
    chart_of,
    colours,
    dashes,
    panels,
    plot_width,
    rows,
    sized,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, configuration_looks
from hpcsched.report.figures.process_usage import MEGABYTE, PARTS, mean_times, recorded_usage
from hpcsched.report.figures.time_axis import time_axis

_SHADES = ("#ffffff", "#bfbfbf", "#737373")


def cpu_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the mean CPU time of a round, by part, configuration and trace.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found, groups = recorded_usage(compared), compared.study.groups
    labels = compared.study.configuration_labels
    data = []
    for group in groups:
        for configuration in configuration_looks(compared):
            if (configuration, group) not in found:
                continue
            times = np.concatenate([usage.times for usage in found[configuration, group]], axis=1)
            data += rows(
                case=labels[configuration]
                if len(groups) == 1
                else f"{labels[configuration]}, {group}",
                part=list(PARTS),
                order=list(range(len(PARTS))),
                milliseconds=[1000 * mean for mean in mean_times(times)],
            )
    chart = (
        chart_of(data)
        .mark_bar(stroke=INK, strokeWidth=0.5)
        .encode(
            x=alt.X("case:N", sort=None, axis=alt.Axis(title=None, labelAngle=0, labelLimit=140)),
            y=alt.Y("milliseconds:Q", axis=alt.Axis(title="mean CPU time of a round [ms]")),
            color=alt.Color(
                "part:N",
                scale=alt.Scale(domain=list(PARTS), range=list(_SHADES)),
                legend=alt.Legend(symbolStrokeColor=INK, symbolStrokeWidth=0.5),
            ),
            order="order:Q",
            tooltip=["case:N", "part:N", "milliseconds:Q"],
        )
    )
    whole = sized(chart, (plot_width(width), round(0.37 * width)))
    return Figure("cpu-time", "CPU time of a round", "Means over rounds, by part.", whole)


def cpu_over_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of cumulative CPU time and of memory over simulated time.

    Each trace has a pair of panels. Of several seeds the first that recorded it is drawn.

    Raises
    ------
    InputError
        No run recorded it.
    """
    found = recorded_usage(compared)
    drawn, charts = configuration_looks(compared), []
    for group in compared.study.groups:
        data = []
        own = {one: found[one, group][0] for one in drawn if (one, group) in found}
        ends = [
            round(usage.now[k]) for usage in own.values() if len(usage.now) for k in (0, -1)
        ] or [0]
        first = next(one for one in compared.study.runs if one.group == group)
        time = time_axis(min(ends), max(ends), first.run.calendar)
        for configuration, usage in own.items():
            # Every n-th round, so that a figure does not grow with the trace.
            some = slice(None, None, -(-len(usage.now) // STEPS) or 1)
            memory = usage.memory[some] / MEGABYTE
            data += rows(
                configuration=configuration,
                time=time.places(usage.now[some].tolist()),
                seconds=usage.times.sum(axis=0).cumsum()[some],
                # Where memory is unknown, the line has a gap.
                memory=[None if np.isnan(value) else value for value in memory],
            )
        for field, title in (("seconds", "CPU time so far [s]"), ("memory", "memory [MB]")):
            chart = (
                chart_of(data)
                .mark_line(strokeWidth=1.2)
                .encode(
                    x=time.x("time", bounded=False),
                    y=alt.Y(f"{field}:Q", axis=alt.Axis(title=title)),
                    color=colours(drawn, width),
                    strokeDash=dashes(drawn, width),
                    tooltip=["configuration:N", time.tooltip("time"), f"{field}:Q"],
                )
            )
            size = plot_width(width), round(0.25 * width)
            charts.append(sized(chart, size, group if field == "seconds" else ""))
    caption = "Of several seeds, the first that recorded it."
    figure = panels(charts, columns=1)
    return Figure("cpu-memory", "CPU time and memory over time", caption, figure)
