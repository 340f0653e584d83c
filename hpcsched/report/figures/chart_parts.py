"""Parts of charts: style, rows of data, axes, panels, and files.

A figure is described once, as a Vega-Lite chart that Altair builds: `write_figure` draws it into a
file, and the report page draws the same description in the browser.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from itertools import cycle
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast

import altair as alt
import numpy as np

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.system.system import IntArray
from hpcsched.whole_files import check_target, make_folder, write_bytes
from hpcsched.workload.trace_calendar import Calendar

PALETTE = {
    "black": "#000000",
    "orange": "#E69F00",
    "sky blue": "#56B4E9",
    "green": "#009E73",
    "yellow": "#F0E442",
    "blue": "#0072B2",
    "vermilion": "#D55E00",
    "purple": "#CC79A7",
    "grey": "#777777",
    "light grey": "#BBBBBB",
}
"""The palette of Okabe and Ito, distinguishable with any colour vision, and two greys.

M. Okabe and K. Ito, Color Universal Design, 2008.
"""

INK = "#222222"
PAPER_WIDTH = 520
"""Width of figures for papers, in points of 1/72 inch; on a page, in pixels."""
FONT_SIZE = 9
"""Size of text in figures for papers, in points."""

_DISPATCHERS = {
    "list": "grey",
    "list sjf": "orange",
    "easy": "blue",
    "conservative": "sky blue",
    "order-search": "green",
    "cp": "vermilion",
    "best-of": "purple",
    "joint-now": "black",
}
_OTHERS = ("vermilion", "green", "purple", "orange", "sky blue", "yellow", "black", "blue")
DASHES: Sequence[Sequence[int]] = ((1, 0), (5, 3), (1, 2), (5, 2, 1, 2), (9, 3), (9, 3, 1, 3))
"""Styles of lines: lengths of strokes and gaps in turn, in points."""


class Look(NamedTuple):
    """Colour, index of the line style, and label of a configuration; empty: its name."""

    colour: str
    style: int
    label: str = ""


def chart_config(font_size: int = FONT_SIZE) -> dict[str, Any]:
    """Return the Vega-Lite configuration that all figures share."""
    text: dict[str, Any] = {
        "labelFontSize": font_size - 1,
        "titleFontSize": font_size,
        "labelLimit": 0,
    }
    text |= {"titleLimit": 0, "labelColor": INK, "titleColor": INK, "titleFontWeight": "normal"}
    return {
        "background": "white",
        "font": "Liberation Sans, Arial, Helvetica, sans-serif",
        "view": {"stroke": None},
        "axis": {
            **text,
            "gridColor": "#dddddd",
            "gridWidth": 0.6,
            "domainColor": INK,
            "tickColor": INK,
            "tickSize": 3,
            # Vega would move the outermost labels inwards, beside their ticks.
            "labelFlush": False,
        },
        "legend": {**text, "title": None, "orient": "bottom", "symbolStrokeWidth": 2},
        "title": {"fontSize": font_size, "fontWeight": "normal", "color": INK},
        "rule": {"color": INK},
        "text": {"fontSize": font_size - 2, "color": INK},
    }


def looks(dispatchers: Mapping[str, str]) -> dict[str, Look]:
    """Return the look of each configuration, given its dispatcher.

    The first configuration of a well-known dispatcher has its colour; others have the next free
    one. Colours that repeat differ by the style of lines.
    """
    own: dict[str, str] = {}
    for name, dispatcher in dispatchers.items():
        colour = _DISPATCHERS.get(dispatcher)
        if colour is not None and colour not in own.values():
            own[name] = colour
    free = cycle([colour for colour in _OTHERS if colour not in own.values()] or _OTHERS)
    drawn: dict[str, Look] = {}
    used: Counter[str] = Counter()
    for name in dispatchers:
        colour = own.get(name) or next(free)
        drawn[name] = Look(PALETTE[colour], used[colour] % len(DASHES))
        used[colour] += 1
    return drawn


def configuration_looks(compared: ComparedStudy) -> dict[str, Look]:
    """Return the look of each configuration of a comparison."""
    dispatchers: dict[str, str] = {}
    for one in compared.study.runs:
        dispatchers.setdefault(one.configuration, one.dispatcher)
    labels = compared.study.configuration_labels
    return {name: own._replace(label=labels[name]) for name, own in looks(dispatchers).items()}


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
    """Return a logarithmic scale, linear near 0 where there are values of 0, and its marks."""
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
    """Return the colours of configurations, with a legend below the figure if there are several."""
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
    """Return the chart of a line for each configuration, which keeps a value up to the next one."""
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


_DAY = 86_400


class TimeAxis(NamedTuple):
    """Places of simulated times, in seconds, on the axis of a figure.

    `clock` is what the clocks of the trace show at its second 0, in seconds since 1970; None: no
    dates.
    """

    begin: int
    end: int
    title: str
    unit: int
    clock: int | None

    def places(self, seconds: Iterable[float]) -> list[float]:
        """Return the places of simulated times: milliseconds of a date, or the unit's multiples."""
        if self.clock is None:
            return [second / self.unit for second in seconds]
        # Vega counts milliseconds; whole numbers are not rounded to six digits.
        return [round(1000 * (self.clock + second)) for second in seconds]

    def x(self, field: str, *, bounded: bool = True, labelled: bool = True) -> alt.X:
        """Return the axis for a column of places; without bounds it ends where the data do."""
        scale: Literal["linear", "utc"] = "linear" if self.clock is None else "utc"
        bounds = alt.Scale(type=scale, domain=self.places((self.begin, self.end)), nice=False)
        if labelled:
            date = "%-d %b" if self.end - self.begin > 5 * _DAY else "%-d %b %H:%M"
            axis = alt.Axis(title=self.title, format="~g" if self.clock is None else date)
        else:
            axis = alt.Axis(title=None, labels=False, ticks=False)
        kind = "Q" if self.clock is None else "T"
        return alt.X(
            f"{field}:{kind}", scale=bounds if bounded else alt.Scale(type=scale), axis=axis
        )

    def tooltip(self, field: str) -> alt.Tooltip:
        """Return the text of a place when a mark is pointed at."""
        if self.clock is None:
            return alt.Tooltip(f"{field}:Q")
        return alt.Tooltip(
            f"{field}:T",
            timeUnit="utcyearmonthdatehoursminutesseconds",
            format="%Y-%m-%d %H:%M:%S",
            title=field,
        )


def time_axis(begin: int, end: int, calendar: Calendar | None = None) -> TimeAxis:
    """Return the axis for a span of simulated time, in seconds.

    Dates are shown if the calendar of the trace knows them, by the clocks at the begin: summer time
    that begins or ends later is not followed.

    Examples
    --------
    >>> time_axis(0, 10 * 3600).title
    "hours since the trace's origin"
    """
    first = None if calendar is None else calendar.date(begin)
    # A day more: the clocks at the begin may show a later date than those at the end.
    if calendar is None or first is None or calendar.date(end + _DAY) is None:
        unit, name = time_unit(end - begin)
        return TimeAxis(begin, end, f"{name} since the trace's origin", unit, None)
    title = f"from {first:%Y-%m-%d}, local time (UTC{first.isoformat()[-6:]})"
    ahead = first.utcoffset() or timedelta()
    return TimeAxis(begin, end, title, 1, calendar.start + round(ahead.total_seconds()))


def axis_of_trace(
    compared: ComparedStudy, group: str, instants: Sequence[FloatColumn | IntArray]
) -> TimeAxis:
    """Return the axis for time series of runs of one trace, given their ascending instants."""
    ends = [round(one[k]) for one in instants if len(one) for k in (0, -1)] or [0]
    first = next(one for one in compared.study.runs if one.group == group)
    return time_axis(min(ends), max(ends), first.run.calendar)


FORMATS = ("pdf", "svg", "png")
DOTS = 200
"""Dots per inch of what is drawn in pixels."""


def format_of(path: Path) -> str:
    """Return the figure format of a file by the ending of its name; refuse what cannot be drawn."""
    kind = path.suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        there = ", ".join(f".{name}" for name in FORMATS)
        raise InputError(Finding("unknown-format", f"{path} does not end in one of {there}"))
    try:
        import vl_convert  # noqa: F401, PLC0415 (it holds a browser's engine of JavaScript)
    except ImportError:
        message = "to draw files install hpcsched[figures]: pip install 'hpcsched[figures]'"
        raise InputError(Finding("not-installed", message)) from None
    return kind


def description(chart: Chart, font_size: int = FONT_SIZE) -> dict[str, Any]:
    """Return the Vega-Lite description of a chart, with the style of all figures."""
    found: dict[str, Any] = chart.to_dict()
    return {**found, "config": chart_config(font_size)}


def file_content(chart: Chart, kind: str, dots: int = DOTS) -> bytes:
    """Return the content of a figure's file."""
    import vl_convert  # noqa: PLC0415 (an extra, see `format_of`)

    vectors = _numbered(vl_convert.vegalite_to_svg(description(chart)))
    if kind == "pdf":
        return _ordered(vl_convert.svg_to_pdf(vectors))
    if kind == "png":
        pixels: bytes = vl_convert.svg_to_png(vectors, ppi=dots)
        return pixels
    return vectors.encode()


def _numbered(vectors: str) -> str:
    """Return SVG with clipping areas numbered from 1, independent of earlier drawings.

    Vega counts them on through a process, so that equal figures would not be equal files.
    """
    first: dict[str, str] = {}

    def renamed(found: re.Match[str]) -> str:
        return found[1] + first.setdefault(found[2], f"clip{len(first) + 1}") + found[3]

    return re.sub(r'(id="|url\(#)(clip\d+)("|\))', renamed, vectors)


def _ordered(document: bytes) -> bytes:
    """Return PDF with the names of resources in order; the library gives them in any order.

    Sorting the lines of a dictionary moves nothing else, so that offsets in the file stay right.
    """

    def in_order(found: re.Match[bytes]) -> bytes:
        return b"".join(sorted(found[0].splitlines(keepends=True)))

    return re.sub(rb"(?:^ +/\w+ \d+ 0 R\n)+", in_order, document, flags=re.MULTILINE)


def write_figure(chart: Chart, path: Path, *, force: bool = False, dots: int = DOTS) -> None:
    """Draw a figure and write it, whole or not at all."""
    kind = format_of(path)
    # Before drawing, which may take a while.
    check_target(path, force=force)
    make_folder(path.parent)
    write_bytes(path, file_content(chart, kind, dots))
