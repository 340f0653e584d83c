"""The figure of decision times by queue length."""

from typing import Any

import altair as alt
import numpy as np

from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.figures.chart_parts import (
    Figure,
    chart_of,
    colours,
    dashes,
    layers,
    plot_width,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.decision_times import by_queue_length, decision_times
from hpcsched.report.figures.figure_style import PAPER_WIDTH, configuration_looks, pale

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
