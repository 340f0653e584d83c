"""Figures of dispatching rounds: decision times, chosen dispatchers, CPU time and memory."""

from typing import Any

import altair as alt
import numpy as np
import pyarrow.compute as pc

from hpcsched.errors import Finding, InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    STEPS,
    Figure,
    chart_of,
    colours,
    dashes,
    layers,
    lines,
    panels,
    plot_width,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import (
    INK,
    PALETTE,
    PAPER_WIDTH,
    configuration_looks,
    pale,
)
from hpcsched.report.figures.run_series import (
    MEGABYTE,
    PARTS,
    by_queue_length,
    choices_of,
    decision_times,
    mean_times,
    recorded_usage,
)
from hpcsched.report.figures.time_axis import axis_of_trace, time_axis

DOTS_A_RUN = 1000
"""Largest number of rounds of each run drawn as dots; more would cover each other."""
_TIME = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s'"
    " : datum.value >= 1e-3 ? format(datum.value * 1e3, '.3~g') + ' ms'"
    " : datum.value >= 1e-6 ? format(datum.value * 1e6, '.3~g') + ' µs'"
    " : format(datum.value * 1e9, '.3~g') + ' ns'"
)
"""Vega expression of a label: decision times are from some ns to minutes."""


def decision_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of decision times: a dot for each round, and lines of medians."""
    dots, lines, drawn = [], [], configuration_looks(compared)
    for one in compared.study.runs:
        queued, seconds = decision_times(one)
        # Every n-th round, so that the same ones are drawn each time.
        some = slice(None, None, -(-len(queued) // DOTS_A_RUN) or 1)
        known = seconds[some] > 0
        about = {"configuration": one.configuration, "run": one.name}
        dots += rows(
            **about,
            queued=np.maximum(queued[some][known], 1),
            seconds=seconds[some][known],
            # Paler, not transparent: in PDF each transparent dot takes half a kilobyte.
            colour=pale(drawn[one.configuration].colour),
        )
        bins = [bin_ for bin_ in by_queue_length(one) if bin_.p50 > 0]
        lines += rows(
            **about,
            # Geometric middle of the bin, as the axis is logarithmic.
            queued=[float(np.sqrt(max(b.queue_from, 1) * max(b.queue_to, 1))) for b in bins],
            seconds=[b.p50 for b in bins],
            p90=[b.p90 for b in bins],
            rounds=[b.rounds for b in bins],
        )
    both = [*dots, *lines]
    x_scale, x_marks = value_scale([np.array([row["queued"] for row in both])])
    y_scale, y_marks = value_scale([np.array([row["seconds"] for row in both])])
    title = "jobs in the queue before the round (none counts as one)"
    times = alt.Axis(title="decision time (wall clock)", values=y_marks, labelExpr=_TIME)
    places: dict[str, Any] = {
        "x": alt.X("queued:Q", scale=x_scale, axis=value_axis(title, x_marks)),
        "y": alt.Y("seconds:Q", scale=y_scale, axis=times),
        "detail": ["run:N", "configuration:N"],
    }
    median = chart_of(lines).encode(
        **places,
        color=colours(drawn, width),
        tooltip=["run:N", "queued:Q", "seconds:Q", "p90:Q", "rounds:Q"],
    )
    chart = layers(
        chart_of(dots)
        .mark_circle(size=5, opacity=1, clip=True)
        .encode(**places, color=alt.Color("colour:N", scale=None)),
        median.mark_line(strokeWidth=1.6).encode(strokeDash=dashes(drawn, width)),
        median.mark_point(filled=True, size=18, stroke="white", strokeWidth=0.5, opacity=1),
    )
    size = plot_width(width), round(0.42 * width)
    caption = (
        "Dots: rounds, every n-th of many; lines: medians by queue length, each range twice as wide"
        " as the one before it. Measured: it differs from machine to machine."
    )
    return Figure("decision-time", "Decision time by queue length", caption, sized(chart, size))


def choice_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the chosen dispatcher over time, in a panel for each run."""
    found = [(one, choices) for one in compared.study.runs if (choices := choices_of(one.run))]
    if not found:
        message = "no run chose between dispatchers; expected one of the dispatcher hyper"
        raise InputError(Finding("nothing-chosen", message))
    labels, charts = compared.study.run_labels, []
    for one, choices in found:
        last = pc.max(one.run.rounds.read("now")["now"]).as_py()
        time = time_axis(choices[0].now, last, one.run.calendar)
        names = list(dict.fromkeys(choice.chosen for choice in choices))
        data = rows(
            dispatcher=[choice.chosen for choice in choices],
            begin=time.places(choice.now for choice in choices),
            end=time.places((*(choice.now for choice in choices[1:]), last)),
            because=[choice.because for choice in choices],
        )
        chart = (
            chart_of(data)
            .mark_bar(color=PALETTE["blue"], height={"band": 0.7})
            .encode(
                x=time.x("begin"),
                x2="end",
                y=alt.Y("dispatcher:N", sort=names, axis=alt.Axis(title=None)),
                tooltip=["dispatcher:N", time.tooltip("begin"), time.tooltip("end"), "because:N"],
            )
        )
        charts.append(sized(chart, (plot_width(width), 16 * len(names) + 8), labels[one.name]))
    caption = "The dispatcher that decided, over time."
    return Figure("choices", "Chosen dispatchers", caption, panels(charts, columns=1))


_SHADES = ("#ffffff", "#bfbfbf", "#737373")


def cpu_time_figure(compared: ComparedStudy, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of the mean CPU time of a round, by part, configuration and trace."""
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
    """
    found = recorded_usage(compared)
    drawn, charts = configuration_looks(compared), []
    for group in compared.study.groups:
        data = []
        own = {one: found[one, group][0] for one in drawn if (one, group) in found}
        time = axis_of_trace(compared, group, [usage.now for usage in own.values()])
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
            y = alt.Y(f"{field}:Q", axis=alt.Axis(title=title))
            told, x = (time.tooltip("time"), f"{field}:Q"), time.x("time", bounded=False)
            chart = lines(data, x, y, drawn, told=told, width=width, stroke=1.2, stepped=False)
            size = plot_width(width), round(0.25 * width)
            charts.append(sized(chart, size, group if field == "seconds" else ""))
    caption = "Of several seeds, the first that recorded it."
    figure = panels(charts, columns=1)
    return Figure("cpu-memory", "CPU time and memory over time", caption, figure)
