"""Box plots of published figures: upright boxes in groups, on a logarithmic scale.

From the first to the third quartile, with a line at the median and a triangle at the mean; whiskers
to the least and largest value. It is the form of figures 3 and 5 of Galleguillos and others,
Data-driven job dispatching in HPC systems (MOD 2017).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import numpy.typing as npt

from hpcsched.report.figures.chart_parts import (
    AXIS_WIDTH,
    INK,
    Look,
    chart_of,
    colours,
    layers,
    rows,
    sized,
    value_axis,
    value_scale,
)


class Box(NamedTuple):
    """A distribution as a box plot shows it.

    Attributes
    ----------
    least, largest
        Ends of the whiskers.
    lower, median, upper
        Quartiles.
    mean
        Arithmetic mean.
    """

    least: float
    lower: float
    median: float
    upper: float
    largest: float
    mean: float


def box_of(values: npt.NDArray[np.float64], weights: npt.NDArray[np.int64] | None = None) -> Box:
    """Return the box of weighted values.

    Parameters
    ----------
    values
        Values, `[K]`.
    weights
        Multiplicity of each value, `[K]`; None: 1 each.

    Returns
    -------
    Box
        Quartiles are by nearest rank; all fields are 0 without values.
    """
    if weights is None:
        weights = np.ones(len(values), np.int64)
    if not len(values):
        return Box(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    # Stable, so that equal values keep their order and results do not depend on the library.
    order = np.argsort(values, kind="stable")
    upto = weights[order].cumsum()
    # Nearest rank: the first value whose cumulative weight reaches the share. No value is
    # interpolated, so each quartile is one that a job had.
    at = np.searchsorted(upto, [upto[-1] * share for share in (0.25, 0.5, 0.75)])
    lower, median, upper = map(float, values[order[at]])
    mean = float((values * weights).sum() / upto[-1])
    return Box(float(values.min()), lower, median, upper, float(values.max()), mean)


def _grouped(groups: Sequence[str], drawn: Mapping[str, Look]) -> dict[str, Any]:
    """Return the places of bars: groups beside each other, and configurations within a group."""
    axis = alt.Axis(title=None, labelAngle=0, labelLimit=160, grid=False)
    return {
        "x": alt.X("group:N", sort=list(groups), axis=axis, scale=alt.Scale(paddingInner=0.15)),
        "xOffset": alt.XOffset(
            "configuration:N",
            sort=list(drawn),
            scale=alt.Scale(domain=list(drawn), paddingInner=0.1),
        ),
    }


def boxes(
    found: Mapping[tuple[str, str], Box],
    groups: Sequence[str],
    drawn: Mapping[str, Look],
    title: str,
    size: tuple[int, int],
) -> alt.LayerChart:
    """Return the chart of boxes, as in `Box`, on a logarithmic scale.

    Parameters
    ----------
    found
        Box by configuration and group.
    groups
        Groups from left to right.
    drawn
        Look by configuration, from left to right within a group.
    title
        Title of the axis of values.
    size
        Width and height of the plotting area, in points.
    """
    data = [
        row
        for configuration in drawn
        for group in groups
        if (configuration, group) in found
        for row in rows(
            configuration=configuration, group=group, **found[configuration, group]._asdict()
        )
    ]
    scale, marks = value_scale(
        np.array([box.least, box.largest, box.mean]) for box in found.values()
    )

    def y(field: str) -> alt.Y:
        return alt.Y(f"{field}:Q", scale=scale, axis=value_axis(title, marks))

    numbers = [f"{name}:Q" for name in Box._fields]
    base = chart_of(data).encode(
        **_grouped(groups, drawn), tooltip=["configuration:N", "group:N", *numbers]
    )
    colour = colours(drawn, size[0] + AXIS_WIDTH)
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
