"""Charts that several figures have: distribution functions, boxes, bars with intervals."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import numpy as np

from hpcsched.metrics.bootstrap import Interval
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.figures.boxes import Box
from hpcsched.report.figures.chart_parts import (
    AXIS_WIDTH,
    STEPS,
    chart_of,
    colours,
    dashes,
    layers,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import INK, PAPER_WIDTH, Look


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
    values
        Values by contender.
    drawn
        Look by contender.
    titles
        Titles of the axes of values and of percentages.
    width
        Width of the whole figure, whose legend this is, in points.
    linear
        Value below which the scale is linear where there are values of 0.
    """
    data = []
    for contender in drawn:
        own = values.get(contender)
        if own is not None and len(own):
            x, y = distribution(own)
            data += rows(contender=contender, value=x, percent=y)
    scale, marks = value_scale(values.values(), linear)
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X("value:Q", scale=scale, axis=value_axis(titles[0], marks)),
            y=alt.Y("percent:Q", scale=alt.Scale(domain=[0, 101]), axis=alt.Axis(title=titles[1])),
            color=colours(drawn, width),
            strokeDash=dashes(drawn, width),
            tooltip=["contender:N", "value:Q", "percent:Q"],
        )
    )
    return chart


def _grouped(groups: Sequence[str], drawn: Mapping[str, Look]) -> dict[str, Any]:
    """Return the places of bars: groups beside each other, and contenders within a group."""
    axis = alt.Axis(title=None, labelAngle=0, labelLimit=160, grid=False)
    return {
        "x": alt.X("group:N", sort=list(groups), axis=axis, scale=alt.Scale(paddingInner=0.15)),
        "xOffset": alt.XOffset(
            "contender:N", sort=list(drawn), scale=alt.Scale(domain=list(drawn), paddingInner=0.1)
        ),
    }


def boxes(
    found: Mapping[tuple[str, str], Box],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    size: tuple[int, int] = (PAPER_WIDTH - AXIS_WIDTH, 200),
) -> alt.LayerChart:
    """Return the chart of boxes, as in `Box`, on a logarithmic scale.

    Parameters
    ----------
    found
        Box by contender and group.
    groups
        Groups from left to right.
    drawn
        Look by contender, from left to right within a group.
    title
        Title of the axis of values.
    size
        Width and height of the plotting area, in points.
    """
    data = [
        row
        for contender in drawn
        for group in groups
        if (contender, group) in found
        for row in rows(contender=contender, group=group, **found[contender, group]._asdict())
    ]
    scale, marks = value_scale(
        np.array([box.least, box.largest, box.mean]) for box in found.values()
    )

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=scale, axis=value_axis(title, marks))

    numbers = [f"{name}:Q" for name in Box._fields]
    base = chart_of(data).encode(
        **_grouped(groups, drawn), tooltip=["contender:N", "group:N", *numbers]
    )
    colour = colours(drawn, size[0] + AXIS_WIDTH, areas=True)
    step = (0.75 * size[0] / max(len(groups), 1)) / max(len(drawn), 1)
    chart = layers(
        base.mark_rule(strokeWidth=0.8).encode(y=y("least"), y2="largest:Q"),
        base.mark_bar(stroke=INK, strokeWidth=0.5).encode(y=y("lower"), y2="upper:Q", color=colour),
        base.mark_tick(color=INK, thickness=1.4, size=step).encode(y=y("median")),
        base.mark_point(
            shape="triangle-up", size=22, filled=True, fill="white", stroke=INK, strokeWidth=0.7
        ).encode(y=y("mean")),
    )
    return sized(chart, size)


def bars(
    found: Mapping[tuple[str, str], Interval],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    size: tuple[int, int] = (PAPER_WIDTH - AXIS_WIDTH, 200),
) -> alt.LayerChart:
    """Return the chart of bars with their values and intervals.

    Parameters
    ----------
    found
        Mean and interval by contender and group; an interval without width is not drawn.
    groups
        Groups from left to right.
    drawn
        Look by contender, from left to right within a group.
    title
        Title of the axis of values.
    size
        Width and height of the plotting area, in points.
    """
    data = [
        row
        for contender in drawn
        for group in groups
        if (contender, group) in found
        for row in bar_rows(contender, group, found[contender, group])
    ]
    return bar_layers(data, groups, drawn, title, size)


def bar_rows(contender: str, group: str, interval: Interval, **more: str) -> list[dict[str, Any]]:
    """Return the row of a bar for `bar_layers`, with further columns."""
    return rows(
        contender=contender,
        group=group,
        mean=interval.mean,
        # Percentiles of resampled means need not contain the mean.
        lower=min(interval.lower, interval.mean),
        upper=max(interval.upper, interval.mean),
        **more,
    )


def bar_layers(
    data: Sequence[Mapping[str, Any]],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str | None,
    size: tuple[int, int],
) -> alt.LayerChart:
    """Return the chart of rows of `bar_rows`: bars, intervals with a width, and values."""
    base = chart_of(list(data)).encode(
        **_grouped(groups, drawn),
        tooltip=["contender:N", "group:N", "mean:Q", "lower:Q", "upper:Q"],
    )
    wide = base.transform_filter("datum.lower < datum.upper")
    y = alt.Y("mean:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=True))
    found = [
        base.mark_bar(stroke=INK, strokeWidth=0.5).encode(
            y=y, color=colours(drawn, size[0] + AXIS_WIDTH, areas=True)
        ),
        wide.mark_rule(strokeWidth=0.9).encode(y=alt.Y("lower:Q"), y2="upper:Q"),
        wide.mark_tick(color=INK, thickness=0.9, size=5).encode(y=alt.Y("lower:Q")),
        wide.mark_tick(color=INK, thickness=0.9, size=5).encode(y=alt.Y("upper:Q")),
    ]
    # Values of many bars would cover each other.
    if size[0] >= 26 * len(groups) * len(drawn):
        found.append(
            base.mark_text(baseline="bottom", dy=-2).encode(
                y=alt.Y("upper:Q"), text=alt.Text("mean:Q", format=".4~g")
            )
        )
    return sized(layers(*found), size)
