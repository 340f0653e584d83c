"""Parts of charts: rows of data, axes, colours of configurations, panels.

A figure is described once, as a Vega-Lite chart that Altair builds: `figure_files` draws it into a
file, and the report page draws the same description in the browser.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import altair as alt
import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.figures.figure_style import DASHES, PAPER_WIDTH, Look
from hpcsched.system.system import IntArray

Chart: TypeAlias = alt.Chart | alt.LayerChart | alt.ConcatChart | alt.VConcatChart
"""A chart of Altair, of one view or of several."""
ChartT = TypeVar("ChartT", bound=alt.Chart | alt.LayerChart)
Values: TypeAlias = Sequence[Any] | FloatColumn | IntArray
"""Values of a column of the data."""

_NUMBER = "format(datum.value, datum.value > 0 && datum.value < 0.001 ? '~e' : ',~r')"
"""Expression for the numbers of an axis: in full, but 1e-6 of very small ones."""
STEPS = 400
"""Number of points of a curve; more could not be told apart."""
BESIDE = 3
"""Largest number of panels side by side."""
AXIS_WIDTH = 60
"""Width of an axis with its labels and title, in points."""
_CHARACTER = 5.5
"""Width of a character of a legend, in points."""
_SYMBOL = 30
"""Width of a symbol of a legend with its margins, in points."""
_STROKE = 16
"""Length of a line in a legend, in points: dashes must be told apart."""
_ROW = 20
"""Height of a row, in points."""
_WIDER = 0.7
"""Growth of rows with the width of the figure."""
_LEAST_HEIGHT = 44
_LABEL = 5.0
"""Width of a character of a row's label, in points."""
_BAND = 0.62
"""Share of its row that a bar fills."""


class Figure(NamedTuple):
    """A figure of a report."""

    name: str
    title: str
    caption: str
    chart: Chart


def rows(**columns: Values | str | float) -> list[dict[str, Any]]:
    """Return rows of data from columns.

    Parameters
    ----------
    columns
        Columns of one length by name; a single text or number is the same in all rows. Numbers are
        rounded to six significant digits, more than can be seen.

    Examples
    --------
    >>> rows(configuration="easy", day=[0.5, 1 / 3])
    [{'configuration': 'easy', 'day': 0.5}, {'configuration': 'easy', 'day': 0.333333}]
    """
    several = {
        name: list(column)
        for name, column in columns.items()
        if not isinstance(column, str | int | float)
    }
    count = len(next(iter(several.values()))) if several else 1
    whole = {name: several.get(name) or [column] * count for name, column in columns.items()}
    return [
        {name: _short(value) for name, value in zip(whole, values, strict=True)}
        for values in zip(*whole.values(), strict=True)
    ]


def _short(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return float(f"{value:.6g}")
    return value.item() if isinstance(value, np.generic) else value


def chart_of(data: Sequence[Mapping[str, Any]]) -> alt.Chart:
    """Return a chart of rows of data, without marks yet."""
    return alt.Chart(alt.InlineData(values=list(data)))


def layers(*charts: alt.Chart) -> alt.LayerChart:
    """Return charts on top of each other, the first at the bottom."""
    # Altair makes facets of charts that have facets; these have none.
    return cast(alt.LayerChart, alt.layer(*charts))


def sized(chart: ChartT, size: tuple[int, int], title: str = "") -> ChartT:
    """Return a chart with a size, and with a title unless that is empty."""
    named = {"title": title} if title else {}
    return cast(ChartT, chart.properties(width=size[0], height=size[1], **named))


def value_scale(
    values: Iterable[FloatColumn], linear: float = 1.0
) -> tuple[alt.Scale, list[float]]:
    """Return a logarithmic scale and its marks.

    Parameters
    ----------
    linear
        Value below which the scale is linear where there are values of 0.
    """
    parts = [part for part in values if len(part)]
    if not parts:
        return alt.Scale(type="linear"), []
    low = float(min(part.min() for part in parts))
    high = float(max(part.max() for part in parts))
    if low <= 0:
        high = max(high, linear)
        scale = alt.Scale(type="symlog", constant=linear, domain=[0, high], nice=False)
        return scale, [0.0, *_powers(linear, high)]
    # A scale of a single value would have no width.
    high = max(high, 1.01 * low)
    return alt.Scale(type="log", domain=[low, high], nice=False), _powers(low, high)


def _powers(low: float, high: float) -> list[float]:
    """Return the powers of ten within bounds, with their multiples where there are few."""
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    for factors in ((1,), (1, 2, 5), tuple(range(1, 10))):
        marks = [float(f"{factor}e{exponent}") for exponent in exponents for factor in factors]
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) >= 3:
            return inside
    return inside


def value_axis(title: str, marks: Sequence[float] = ()) -> alt.Axis:
    """Return an axis of values with marks; without any, Vega chooses them."""
    if not marks:
        return alt.Axis(title=title)
    # As a format of the axis, Vega would write 1e+2 on logarithmic scales.
    return alt.Axis(title=title, values=list(marks), labelExpr=_NUMBER)


def colours(
    drawn: Mapping[str, Look], width: int = PAPER_WIDTH, *, legend: bool = True
) -> alt.Color:
    """Return the colours of configurations.

    Parameters
    ----------
    legend
        Whether there is a legend below the figure, if there are several configurations.
    """
    scale = alt.Scale(domain=list(drawn), range=[look.colour for look in drawn.values()])
    return alt.Color(
        "configuration:N", scale=scale, legend=_legend(drawn, width) if legend else None
    )


def dashes(drawn: Mapping[str, Look], width: int = PAPER_WIDTH) -> alt.StrokeDash:
    """Return the styles of configurations' lines, with the legend of `colours`."""
    styles = [list(DASHES[look.style]) for look in drawn.values()]
    scale = alt.Scale(domain=list(drawn), range=styles)
    return alt.StrokeDash("configuration:N", scale=scale, legend=_legend(drawn, width))


def stepped_lines(
    data: Sequence[Mapping[str, Any]],
    x: alt.X,
    y: alt.Y,
    drawn: Mapping[str, Look],
    width: int,
    *,
    told: Sequence[str | alt.Tooltip],
    stroke: float = 1.4,
) -> alt.Chart:
    """Return the chart of a line for each configuration, which keeps a value up to the next one.

    Parameters
    ----------
    told
        Columns shown where a line is pointed at, beside the configuration.
    stroke
        Width of the lines, in points.
    """
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(strokeWidth=stroke, interpolate="step-after", clip=True)
        .encode(
            x=x,
            y=y,
            color=colours(drawn, width),
            strokeDash=dashes(drawn, width),
            tooltip=["configuration:N", *told],
        )
    )
    return chart


def _legend(names: Mapping[str, Look], width: int) -> alt.Legend | None:
    if len(names) < 2:
        return None
    # Columns are as wide as the longest label.
    longest = max(len(look.label or name) for name, look in names.items())
    return alt.Legend(
        columns=max(1, int(width / (_SYMBOL + _CHARACTER * longest))),
        symbolType="stroke",
        # Vega takes the square of the length, and keeps as much free above and below.
        symbolSize=_STROKE**2,
        symbolOpacity=1,
        labelExpr=label_expression(names),
    )


def label_expression(drawn: Mapping[str, Look]) -> str:
    """Return the expression of a legend or an axis that shows configurations by label.

    The data of the chart keep the names, by which a page filters and which can be exported.
    """
    labels = {name: look.label or name for name, look in drawn.items()}
    # Vega-Lite evaluates it for each label; texts of JSON are texts there.
    return f"{json.dumps(labels, ensure_ascii=False)}[datum.value]"


def configuration_rows(drawn: Mapping[str, Look]) -> alt.Y:
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


def fills(drawn: Mapping[str, Look]) -> alt.Color:
    """Return the colours of areas; labels stand beside the rows, so that there is no legend."""
    return colours(drawn, legend=False)


def row_size(drawn: Mapping[str, Look], width: int) -> tuple[int, int]:
    """Return the size of a panel beside the labels of its rows."""
    longest = max((len(look.label or name) for name, look in drawn.items()), default=0)
    beside = min(round(_LABEL * longest), width // 3)
    # Text of the wide figures of a page is larger.
    row = max(_ROW, round(_ROW * _WIDER * width / PAPER_WIDTH))
    return plot_width(width - beside), max(row * len(drawn), _LEAST_HEIGHT)


def plot_width(width: int, beside: int = 1) -> int:
    """Return the width of the plotting area of panels side by side, in points."""
    return max(width // beside - AXIS_WIDTH, 60)


def panels(charts: Sequence[Chart], columns: int = BESIDE) -> Chart:
    """Return charts as panels with one legend."""
    if len(charts) == 1:
        return charts[0]
    return alt.concat(*charts, columns=columns, spacing=12)


def time_unit(seconds: float) -> tuple[int, str]:
    """Return a unit of time that suits a span.

    Examples
    --------
    >>> time_unit(3 * 86_400)
    (3600, 'hours')
    """
    for size, name, least in ((86_400, "days", 5 * 86_400), (3600, "hours", 3 * 3600)):
        if seconds >= least:
            return size, name
    return (60, "minutes") if seconds >= 600 else (1, "seconds")
