"""Figures of the distribution of a quantity of each job or round: percentiles, and curves."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import altair as alt
import numpy as np

from hpcsched.metrics.column_sums import FloatColumn, mean_of
from hpcsched.metrics.metric import whole_column
from hpcsched.report.compared_study import QUANTITIES, ComparedStudy, percentiles
from hpcsched.report.figures.chart_parts import (
    BESIDE,
    STEPS,
    Chart,
    Figure,
    chart_of,
    configuration_rows,
    fills,
    layers,
    panels,
    plot_width,
    row_size,
    rows,
    sized,
    stepped_lines,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, Look, configuration_looks

BOUNDED = "bounded_slowdown"
"""The quantity that is drawn by default."""
QUEUE_SIZE = "queue_size"
"""Queue length before a round: a value of each round, not of each job."""
_SCALE = "The scale is logarithmic, and linear below 1 where there are values of 0."
_PERCENTS = {"least": 0, "p25": 25, "p50": 50, "p75": 75, "p90": 90, "p99": 99, "largest": 100}
_MARKS = {
    "p50": "M-0.2,-1.4h0.4v2.8h-0.4z",
    "p90": "circle",
    "p99": "diamond",
    "mean": "triangle-up",
}
"""Shapes of the percentiles and the mean; the median is an upright stroke."""


def quantity_title(compared: ComparedStudy, quantity: str) -> str:
    """Return the label of the axis of a quantity: title, bound and unit."""
    if quantity == QUEUE_SIZE:
        return "jobs in the queue before a round"
    about = QUANTITIES[quantity]
    if quantity == BOUNDED:
        taus = sorted({jobs.tau for jobs in compared.jobs.values()})
        return f"{about.title}, τ = {', '.join(map(str, taus))} s"
    return f"{about.title} [{about.unit}]" if about.unit else about.title


def quantity_values(
    compared: ComparedStudy, quantity: str
) -> Mapping[tuple[str, str], FloatColumn]:
    """Return the values of all jobs by configuration and trace, of all seeds together."""
    parts: dict[tuple[str, str], list[FloatColumn]] = defaultdict(list)
    for one in compared.study.runs:
        if quantity == QUEUE_SIZE:
            own = whole_column(one.run.rounds, "queued").astype(np.float64)
        else:
            own = QUANTITIES[quantity].values(compared.jobs[one.name])
        parts[one.configuration, one.group].append(own)
    return {key: np.concatenate(part) for key, part in parts.items()}


def distribution(values: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    """Return points of a distribution function, thinned where there are many.

    Parameters
    ----------
    values
        Values of all jobs, at least one.

    Returns
    -------
    tuple
        Some of the values, ascending, with the least twice and the largest; and the percentage of
        all values up to each, which begins at 0. Neighbours are as far apart in percent as `STEPS`
        steps allow.
    """
    occurring, counts = np.unique(values, return_counts=True)
    percent = 100 * np.cumsum(counts) / len(values)
    wanted = np.linspace(0, 100, STEPS)
    places = np.unique(np.minimum(np.searchsorted(percent, wanted), len(percent) - 1))
    places = np.unique(np.concatenate(([0], places, [len(percent) - 1])))
    # The curve begins at 0 % at the least value, not in mid-air.
    x = np.concatenate((occurring[:1], occurring[places])).astype(np.float64)
    return x, np.concatenate(([0.0], percent[places]))


def distributions(
    values: Mapping[str, FloatColumn],
    drawn: Mapping[str, Look],
    titles: tuple[str, str],
    width: int = PAPER_WIDTH,
    linear: float = 1.0,
) -> alt.Chart:
    """Return the chart of distribution functions: percentages of values up to each value.

    Parameters
    ----------
    titles
        Titles of the axes of values and of percentages.
    linear
        Value below which the scale is linear where there are values of 0.
    """
    data: list[dict[str, Any]] = []
    for configuration in drawn:
        if configuration in values and len(values[configuration]):
            value, percent = distribution(values[configuration])
            data += rows(configuration=configuration, value=value, percent=percent)
    scale, marks = value_scale(values.values(), linear)
    x = alt.X("value:Q", scale=scale, axis=value_axis(titles[0], marks))
    y = alt.Y("percent:Q", scale=alt.Scale(domain=[0, 101]), axis=alt.Axis(title=titles[1]))
    return stepped_lines(data, x, y, drawn, width, told=("value:Q", "percent:Q"))


def distribution_figure(
    compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of distribution functions of a quantity, with a panel for each trace."""
    values, groups = quantity_values(compared, of), compared.study.groups
    counted = f"{'rounds' if of == QUEUE_SIZE else 'jobs'} at or below [%]"
    titles, drawn = (quantity_title(compared, of), counted), configuration_looks(compared)
    size = plot_width(width, min(len(groups), BESIDE)), round(0.33 * width)
    charts = []
    for group in groups:
        own = {configuration: found for (configuration, g), found in values.items() if g == group}
        charts.append(sized(distributions(own, drawn, titles, width), size, group))
    caption = f"The percentage of values up to each value. {_SCALE}"
    return Figure(f"distribution-{of}", f"{_heading(of)}: distribution", caption, panels(charts))


def box_figure(compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of percentiles: a row for each configuration, a panel for each trace."""
    values = {case: own for case, own in quantity_values(compared, of).items() if len(own)}
    found = {
        case: dict(zip(_PERCENTS, percentiles(own, _PERCENTS.values()), strict=True))
        | {"mean": mean_of(own)}
        for case, own in values.items()
    }
    groups, drawn = compared.study.groups, configuration_looks(compared)
    # Rows are in the order of what they show, in the first trace.
    means = {one: own["mean"] for (one, group), own in found.items() if group == groups[0]}
    drawn = {one: drawn[one] for one in sorted(drawn, key=lambda one: means.get(one, np.inf))}
    scale, ticks = value_scale(np.array(list(own.values())) for own in found.values())
    charts: list[Chart] = []
    for group in groups:
        title = quantity_title(compared, of) if group == groups[-1] else ""
        own = {one: found[one, group] for one in drawn if (one, group) in found}
        panel = _spreads(own, drawn, scale, value_axis(title, ticks))
        charts.append(sized(panel, row_size(drawn, width), group))
    caption = (
        "By ascending mean. Bars reach from the 25th to the 75th percentile, and thinner to the"
        f" 90th and the 99th; the line from the least to the largest value. {_SCALE}"
    )
    chart = panels(charts, columns=1)
    return Figure(f"boxes-{of}", f"{_heading(of)}: percentiles", caption, chart)


def _spreads(
    found: Mapping[str, Mapping[str, float]],
    drawn: Mapping[str, Look],
    scale: alt.Scale,
    axis: alt.Axis,
) -> alt.LayerChart:
    """Return a panel of percentiles: lines, bars that get thinner with the tail, and marks."""
    whole = [row for one, own in found.items() for row in rows(configuration=one, **own)]
    marks = [
        row
        for one, own in found.items()
        for row in rows(configuration=one, mark=list(_MARKS), value=[own[name] for name in _MARKS])
    ]
    y = configuration_rows(drawn)
    base = chart_of(whole).encode(
        y=y, tooltip=["configuration:N", *(f"{one}:Q" for one in (*_PERCENTS, "mean"))]
    )

    def place(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    shape = alt.Shape(
        "mark:N",
        scale=alt.Scale(domain=list(_MARKS), range=list(_MARKS.values())),
        legend=alt.Legend(
            title="Bars: p25 to p75, p90 and p99; line: least to largest value",
            symbolStrokeWidth=0.9,
            symbolSize=40,
        ),
    )
    # From the back to the front: the marks must lie on the bars.
    return layers(
        base.mark_rule(strokeWidth=0.8).encode(x=place("least"), x2="largest:Q"),
        *(
            base.mark_bar(stroke=INK, strokeWidth=0.5, height={"band": band}, opacity=1).encode(
                x=place(low), x2=f"{high}:Q", color=fills(drawn)
            )
            for low, high, band in (("p90", "p99", 0.22), ("p75", "p90", 0.5), ("p25", "p75", 1))
        ),
        chart_of(marks)
        .mark_point(size=30, filled=False, fill="white", color=INK, strokeWidth=0.9, opacity=1)
        .encode(
            y=y, x=place("value"), shape=shape, tooltip=["configuration:N", "mark:N", "value:Q"]
        ),
    )


def _heading(quantity: str) -> str:
    return quantity.replace("_", " ").capitalize()
