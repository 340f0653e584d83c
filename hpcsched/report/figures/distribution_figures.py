"""Figures of the distribution of a quantity of each job or round.

Spreads (`boxes`), distribution functions (`ecdf`) and survival functions, which show the tail.

"""

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import altair as alt
import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.metrics.metric import whole_column
from hpcsched.report.compared_study import QUANTITIES, ComparedStudy
from hpcsched.report.figures.chart_parts import (
    BESIDE,
    STEPS,
    Figure,
    lines,
    panels,
    plot_width,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look, configuration_looks
from hpcsched.report.figures.row_charts import spread_of, spread_panels

QUEUE_SIZE = "queue_size"
"""Queue length before a round: a value of each round, not of each job."""


def quantity_title(compared: ComparedStudy, quantity: str) -> str:
    """Return the label of the axis of a quantity: title and bound."""
    if quantity == QUEUE_SIZE:
        return "jobs in the queue before a round"
    about = QUANTITIES[quantity]
    bound = ""
    if quantity == "bounded_slowdown":
        taus = sorted({jobs.tau for jobs in compared.jobs.values()})
        bound = f", τ = {', '.join(map(str, taus))} s"
    # The marks of durations have units of their own.
    return f"{about.title}{bound}"


def is_duration(quantity: str) -> bool:
    """Return whether a quantity is a time, by its name."""
    return quantity != QUEUE_SIZE and QUANTITIES[quantity].unit == "s"


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


def survival(values: FloatColumn) -> tuple[FloatColumn, FloatColumn]:
    """Return points of a survival function, thinned where there are many.

    Parameters
    ----------
    values
        Values of all jobs, at least one.

    Returns
    -------
    tuple
        Some of the values, ascending, and the percentage of all values above each; it begins with
        100 at the least value, and ends at the largest with the last percentage above 0.
        Neighbours are as far apart on a logarithmic scale as `STEPS` steps allow.
    """
    occurring, counts = np.unique(values, return_counts=True)
    percent = 100 * (len(values) - np.cumsum(counts)) / len(values)
    above = percent[:-1]
    if not len(above):
        return np.repeat(occurring, 2).astype(np.float64), np.array([100.0, 100.0])
    wanted = np.geomspace(above[0], above[-1], STEPS)
    places = np.minimum(np.searchsorted(-above, -wanted), len(above) - 1)
    places = np.unique(np.concatenate(([0], places, [len(above) - 1])))
    x = np.concatenate((occurring[:1], occurring[places], occurring[-1:])).astype(np.float64)
    return x, np.concatenate(([100.0], above[places], above[-1:]))


def survivals(
    values: Mapping[str, FloatColumn],
    drawn: Mapping[str, Look],
    titles: tuple[str, str],
    width: int = PAPER_WIDTH,
    *,
    seconds: bool = False,
) -> alt.Chart:
    """Return the chart of survival functions on logarithmic scales: percentages above each value.

    Parameters
    ----------
    titles
        Titles of the axes of values and of percentages.
    """
    curves = _curves_of(survival, values, drawn)
    least = min([10.0, *(float(percent[-1]) for _, percent in curves.values())])
    shares, percents = value_scale([np.array([least, 100.0])])
    y = alt.Y("percent:Q", scale=shares, axis=value_axis(titles[1], percents))
    x = _value_places(values, titles[0], seconds=seconds)
    return lines(_rows_of(curves), x, y, drawn, told=("value:Q", "percent:Q"), width=width)


def distributions(
    values: Mapping[str, FloatColumn],
    drawn: Mapping[str, Look],
    titles: tuple[str, str],
    width: int = PAPER_WIDTH,
    linear: float = 1.0,
    *,
    seconds: bool = False,
) -> alt.Chart:
    """Return the chart of distribution functions: percentages of values up to each value.

    Parameters
    ----------
    titles
        Titles of the axes of values and of percentages.
    linear
        Value below which the scale is linear where there are values of 0.
    """
    y = alt.Y("percent:Q", scale=alt.Scale(domain=[0, 101]), axis=alt.Axis(title=titles[1]))
    x = _value_places(values, titles[0], linear, seconds=seconds)
    data = _rows_of(_curves_of(distribution, values, drawn))
    return lines(data, x, y, drawn, told=("value:Q", "percent:Q"), width=width)


_Curve: TypeAlias = tuple[FloatColumn, FloatColumn]


def _curves_of(
    function: Callable[[FloatColumn], _Curve],
    values: Mapping[str, FloatColumn],
    drawn: Mapping[str, Look],
) -> dict[str, _Curve]:
    """Return the points of a function of each configuration that has values."""
    return {one: function(values[one]) for one in drawn if one in values and len(values[one])}


def _rows_of(curves: Mapping[str, _Curve]) -> list[dict[str, Any]]:
    return [
        row
        for configuration, (x, y) in curves.items()
        for row in rows(configuration=configuration, value=x, percent=y)
    ]


def _value_places(
    values: Mapping[str, FloatColumn], title: str, linear: float = 1.0, *, seconds: bool
) -> alt.X:
    scale, marks = value_scale(values.values(), linear, seconds=seconds)
    return alt.X("value:Q", scale=scale, axis=value_axis(title, marks, seconds=seconds))


BOUNDED = "bounded_slowdown"
"""The quantity that is drawn by default."""
_SCALE = "The scale is logarithmic, and linear below 1 where there are values of 0."


def box_figure(compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of spreads: a row for each configuration, a panel for each trace."""
    values = quantity_values(compared, of)
    found = {case: spread_of(own) for case, own in values.items() if len(own)}
    drawn, title = configuration_looks(compared), quantity_title(compared, of)
    groups = compared.study.groups
    # Rows are in the order of what they show, in the first trace.
    means = {one: spread.mean for (one, group), spread in found.items() if group == groups[0]}
    order = sorted(drawn, key=lambda one: means.get(one, float("inf")))
    chart = spread_panels(
        found,
        groups,
        {one: drawn[one] for one in order},
        title,
        width,
        seconds=is_duration(of),
    )
    caption = (
        "By ascending mean. Bars reach from the 25th to the 75th percentile, and thinner to the"
        " 90th and the 99th; the line from the least to the largest value. On the right: the"
        f" percentage of values at the least one. {_SCALE}"
    )
    return Figure(f"boxes-{of}", f"{_heading(of)}: percentiles", caption, chart)


def distribution_figure(
    compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of distribution functions of a quantity, with a panel for each trace."""
    caption = f"The percentage of values up to each value. {_SCALE}"
    return _curves(compared, of, width, distributions, ("distribution", "at or below", caption))


def survival_figure(compared: ComparedStudy, of: str = BOUNDED, width: int = PAPER_WIDTH) -> Figure:
    """Return the figure of survival functions of a quantity, with a panel for each trace."""
    caption = (
        "The percentage of values above each value, on a logarithmic scale, which shows the tail."
        " Where a curve begins, the percentage of values above the least one; it ends at the"
        f" largest. {_SCALE}"
    )
    return _curves(compared, of, width, survivals, ("survival", "above", caption))


def _curves(
    compared: ComparedStudy,
    quantity: str,
    width: int,
    draw: Callable[..., alt.Chart],
    about: tuple[str, str, str],
) -> Figure:
    """Return the figure of curves; `about` has the kind, the side that counts, the caption."""
    kind, side, caption = about
    values, groups = quantity_values(compared, quantity), compared.study.groups
    drawn, title = configuration_looks(compared), quantity_title(compared, quantity)
    counted = f"{'rounds' if quantity == QUEUE_SIZE else 'jobs'} {side} [%]"
    beside = min(len(groups), BESIDE)
    size = plot_width(width, beside), round(0.33 * width)
    charts = []
    for group in groups:
        of_group = {configuration: own for (configuration, g), own in values.items() if g == group}
        curves = draw(of_group, drawn, (title, counted), width, seconds=is_duration(quantity))
        charts.append(sized(curves, size, group))
    return Figure(f"{kind}-{quantity}", f"{_heading(quantity)}: {kind}", caption, panels(charts))


def _heading(quantity: str) -> str:
    return quantity.replace("_", " ").capitalize()
