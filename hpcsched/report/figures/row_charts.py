"""Charts with a row for each configuration: bars with intervals, and spreads of distributions.

Rows have room for any number of configurations, with labels beside them. Each trace is a panel.

"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np

from hpcsched.metrics.bootstrap import Interval
from hpcsched.metrics.column_sums import FloatColumn, mean_of
from hpcsched.metrics.job_metrics import nearest_rank
from hpcsched.report.figures.chart_parts import (
    Chart,
    chart_of,
    colours,
    label_expression,
    layers,
    number_text,
    panels,
    plot_width,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, Look


class Spread(NamedTuple):
    """Percentiles and mean of values.

    Attributes
    ----------
    lower, p50, upper, p90, p99
        25th, 50th, 75th, 90th and 99th percentile, by nearest rank.
    at_least
        Share of the values that equal the least one, from 0 to 1.
    """

    least: float
    lower: float
    p50: float
    upper: float
    p90: float
    p99: float
    largest: float
    mean: float
    at_least: float


def spread_of(values: FloatColumn) -> Spread:
    """Return the spread of values.

    Parameters
    ----------
    values
        The values, at least one.
    """
    ascending = np.sort(values)
    lower, p50, upper, p90, p99 = (
        float(ascending[nearest_rank(percent, len(values))]) for percent in (25, 50, 75, 90, 99)
    )
    least, largest = float(ascending[0]), float(ascending[-1])
    at_least = float(np.mean(ascending == least))
    return Spread(least, lower, p50, upper, p90, p99, largest, mean_of(values), at_least)


_ROW = 20
"""Height of a row, in points."""
_WIDER = 0.7
"""Growth of rows with the width of the figure."""
_LEAST_HEIGHT = 44
_LABEL = 5.0
"""Width of a character of a row's label, in points."""
_MARKS = {
    "p50": "M-0.2,-1.4h0.4v2.8h-0.4z",
    "p90": "circle",
    "p99": "diamond",
    "mean": "triangle-up",
}
"""Shapes of the percentiles and the mean of a spread; the median is an upright stroke."""
_BAND = 0.62
"""Share of its row that a bar fills."""


def bars(
    found: Mapping[tuple[str, str], Interval],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    width: int,
) -> Chart:
    """Return the chart of bars with their values and intervals.

    Parameters
    ----------
    found
        Mean and interval by configuration and group; an interval without width is not drawn.
    """
    data = [
        row
        for configuration in drawn
        for group in groups
        if (configuration, group) in found
        for row in bar_rows(configuration, group, found[configuration, group])
    ]
    return bar_panels(data, groups, drawn, title, width)


def bar_rows(
    configuration: str, group: str, interval: Interval, **more: str
) -> list[dict[str, Any]]:
    """Return the row of a bar for `bar_panels`, with further columns."""
    return rows(
        configuration=configuration,
        group=group,
        mean=interval.mean,
        # Percentiles of resampled means need not contain the mean.
        lower=min(interval.lower, interval.mean),
        upper=max(interval.upper, interval.mean),
        shown=number_text(interval.mean),
        **more,
    )


def bar_panels(
    data: Sequence[Mapping[str, Any]],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str | None,
    width: int,
    *,
    only: str = "",
) -> Chart:
    """Return the chart of rows of `bar_rows`: bars, intervals with a width, and values.

    `only` is an expression that a page evaluates: the condition of the rows that are shown.
    """
    charts: list[Chart] = []
    for group in groups:
        own = [row for row in data if row["group"] == group]
        base = chart_of(own).encode(
            y=_configurations(drawn), tooltip=["configuration:N", "mean:Q", "lower:Q", "upper:Q"]
        )
        if only:
            base = base.transform_filter(only)
        # Not filtered: a scale would complain of a layer without data.
        wide = base.encode(
            opacity=alt.condition("datum.lower < datum.upper", alt.value(1), alt.value(0))
        )
        heading = title if group == groups[-1] else None
        x = alt.X("mean:Q", axis=alt.Axis(title=heading), scale=alt.Scale(zero=True))
        panel = layers(
            base.mark_bar(stroke=INK, strokeWidth=0.5, height={"band": 1}).encode(
                x=x, color=_fills(drawn)
            ),
            wide.mark_rule(strokeWidth=0.9).encode(x=alt.X("lower:Q"), x2="upper:Q"),
            wide.mark_tick(color=INK, thickness=0.9, size=5).encode(x=alt.X("lower:Q")),
            wide.mark_tick(color=INK, thickness=0.9, size=5).encode(x=alt.X("upper:Q")),
            base.mark_text(align="left", dx=4).encode(x=alt.X("upper:Q"), text="shown:N"),
        )
        charts.append(sized(panel, _size(drawn, width), group))
    chart = panels(charts, columns=1)
    # Bars of several traces can be compared only on one scale.
    return chart.resolve_scale(x="shared") if isinstance(chart, alt.ConcatChart) else chart


def spread_panels(
    found: Mapping[tuple[str, str], Spread],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    width: int,
    *,
    seconds: bool = False,
) -> Chart:
    """Return the chart of spreads on a logarithmic scale, linear near 0 where there are zeros."""
    values = (np.array([spread.least, spread.largest, spread.mean]) for spread in found.values())
    scale, ticks = value_scale(values, seconds=seconds)
    charts: list[Chart] = []
    for group in groups:
        own = {one: found[one, group] for one in drawn if (one, group) in found}
        axis = value_axis(title if group == groups[-1] else "", ticks, seconds=seconds)
        panel = _spreads(own, drawn, scale, axis)
        # Right of the panel stand shares of values at the least one.
        size = _size(drawn, width - _SHARES)
        charts.append(sized(panel, size, group))
    return panels(charts, columns=1)


_SHARES = 60
"""Width of the column of shares beside a panel, in points."""


def _spreads(
    found: Mapping[str, Spread], drawn: Mapping[str, Look], scale: alt.Scale, axis: alt.Axis
) -> alt.LayerChart:
    """Return a panel of spreads: lines, bars that get thinner with the tail, and marks."""
    numbers = [name for name in Spread._fields if name != "at_least"]
    whole = [
        row
        for configuration, spread in found.items()
        for row in rows(
            configuration=configuration,
            share=f"{100 * spread.at_least:.0f} % at {spread.least:.4g}",
            **spread._asdict(),
        )
    ]
    marks = [
        row
        for configuration, spread in found.items()
        for row in rows(
            configuration=configuration,
            mark=[_mark_name(name) for name in _MARKS],
            value=[getattr(spread, name) for name in _MARKS],
        )
    ]
    y = _configurations(drawn)
    base = chart_of(whole).encode(
        y=y, tooltip=["configuration:N", *(f"{one}:Q" for one in numbers)]
    )

    def place(field: str) -> alt.X:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    def bar(low: str, high: str, band: float) -> alt.Chart:
        chart: alt.Chart = base.mark_bar(
            stroke=INK, strokeWidth=0.5, height={"band": band}, opacity=1
        ).encode(x=place(low), x2=f"{high}:Q", color=_fills(drawn))
        return chart

    shape = alt.Shape(
        "mark:N",
        scale=alt.Scale(domain=[_mark_name(one) for one in _MARKS], range=list(_MARKS.values())),
        legend=alt.Legend(
            title="Bars: P25 to P75, P90 and P99; line: least to largest value",
            symbolStrokeWidth=0.9,
            symbolSize=40,
        ),
    )
    # From the back to the front: the marks must lie on the bars.
    return layers(
        base.mark_rule(strokeWidth=0.8).encode(x=place("least"), x2="largest:Q"),
        bar("p90", "p99", 0.22),
        bar("upper", "p90", 0.5),
        bar("lower", "upper", 1),
        chart_of(marks)
        .mark_point(size=30, filled=False, fill="white", color=INK, strokeWidth=0.9, opacity=1)
        .encode(
            y=y, x=place("value"), shape=shape, tooltip=["configuration:N", "mark:N", "value:Q"]
        ),
        base.mark_text(align="left", dx=8).encode(x=alt.value("width"), text="share:N"),
    )


def _mark_name(field: str) -> str:
    return field.replace("p", "P") if field != "mean" else field


def _configurations(drawn: Mapping[str, Look]) -> alt.Y:
    """Return the rows of configurations, with their labels."""
    axis = alt.Axis(
        title=None,
        grid=False,
        ticks=False,
        domain=False,
        labelPadding=7,
        labelExpr=label_expression(drawn),
    )
    scale = alt.Scale(domain=list(drawn), paddingInner=1 - _BAND, paddingOuter=0.3)
    return alt.Y("configuration:N", sort=list(drawn), scale=scale, axis=axis)


def _fills(drawn: Mapping[str, Look]) -> alt.Color:
    """Return the colours of areas; labels stand beside the rows, so that there is no legend."""
    return colours(drawn, areas=True, legend=False)


def _size(drawn: Mapping[str, Look], width: int) -> tuple[int, int]:
    """Return the size of a panel beside the labels of its rows."""
    longest = max((len(look.label or name) for name, look in drawn.items()), default=0)
    beside = min(round(_LABEL * longest), width // 3)
    # Text of the wide figures of a page is larger.
    row = max(_ROW, round(_ROW * _WIDER * width / PAPER_WIDTH))
    return plot_width(width - beside), max(row * len(drawn), _LEAST_HEIGHT)
