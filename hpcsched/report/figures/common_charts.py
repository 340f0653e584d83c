"""Charts that several figures have: distribution functions and survival functions."""

from collections.abc import Mapping

import altair as alt
import numpy as np

from hpcsched.metrics.column_sums import FloatColumn
from hpcsched.report.figures.chart_parts import (
    STEPS,
    chart_of,
    colours,
    dashes,
    rows,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.figure_style import PAPER_WIDTH, Look


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
    data = []
    least = 10.0
    for configuration in drawn:
        own = values.get(configuration)
        if own is not None and len(own):
            x, y = survival(own)
            least = min(least, float(y[-1]))
            data += rows(configuration=configuration, value=x, percent=y)
    scale, marks = value_scale(values.values(), seconds=seconds)
    shares, percents = value_scale([np.array([least, 100.0])])
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X("value:Q", scale=scale, axis=value_axis(titles[0], marks, seconds=seconds)),
            y=alt.Y("percent:Q", scale=shares, axis=value_axis(titles[1], percents)),
            color=colours(drawn, width),
            strokeDash=dashes(drawn, width),
            tooltip=["configuration:N", "value:Q", "percent:Q"],
        )
    )
    return chart


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
    data = []
    for configuration in drawn:
        own = values.get(configuration)
        if own is not None and len(own):
            x, y = distribution(own)
            data += rows(configuration=configuration, value=x, percent=y)
    scale, marks = value_scale(values.values(), linear, seconds=seconds)
    chart: alt.Chart = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=1.4, clip=True)
        .encode(
            x=alt.X("value:Q", scale=scale, axis=value_axis(titles[0], marks, seconds=seconds)),
            y=alt.Y("percent:Q", scale=alt.Scale(domain=[0, 101]), axis=alt.Axis(title=titles[1])),
            color=colours(drawn, width),
            strokeDash=dashes(drawn, width),
            tooltip=["configuration:N", "value:Q", "percent:Q"],
        )
    )
    return chart
