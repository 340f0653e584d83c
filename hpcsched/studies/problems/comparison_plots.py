"""Figures of a comparison of two dispatchers on the same problems, as vector files."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import altair as alt
import numpy as np

from hpcsched.report.figures.chart_parts import (
    Chart,
    chart_of,
    layers,
    rows,
    sized,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.distribution_figures import distributions
from hpcsched.report.figures.figure_files import write_figure
from hpcsched.report.figures.figure_style import PALETTE, Look
from hpcsched.studies.problems.comparison import Floats, Pairing
from hpcsched.system.system import IntArray
from hpcsched.whole_files import check_target, make_folder

FORMATS = ("pdf", "svg")
GRID = 300
"""Number of places that dots may have along an axis: equal places are one dot."""
_RATIO_LINEAR = 0.01
"""Ratio below which the scale of ratios is linear where there are ratios of 0."""

BETTER, SAME, WORSE = PALETTE["blue"], PALETTE["grey"], PALETTE["vermilion"]


def draw(
    pairing: Pairing, folder: Path, formats: Sequence[str] = FORMATS, *, force: bool = False
) -> tuple[list[Path], list[str]]:
    """Write the figures that have values into a folder."""
    make_folder(folder)
    drawn: list[Path] = []
    missing: list[str] = []
    figures = list(_figures(pairing))
    for figure in figures:
        for kind in formats if figure.chart else ():
            check_target(folder / f"{figure.name}.{kind}", force=force)
    for figure in figures:
        if figure.chart is None:
            missing.append(f"{figure.name}: there is no problem with values of both")
            continue
        for kind in formats:
            path = folder / f"{figure.name}.{kind}"
            write_figure(figure.chart, path, force=force)
            drawn.append(path)
    return drawn, missing


class _Drawing(NamedTuple):
    """A figure: name, and chart; None without problems."""

    name: str
    chart: Chart | None


def _figures(pairing: Pairing) -> Iterator[_Drawing]:
    for column, name, label in (
        ("variables", "decision-variables-ratio", "decision variables"),
        ("decision_time", "decision-time-ratio", "decision time"),
        ("fails", "fails-ratio", "fails"),
        ("objective", "objective-ratio", "objective"),
    ):
        ratios = pairing.ratios(column)
        yield _Drawing(name, _ratios(pairing, ratios, label) if len(ratios) else None)
    comparable = bool(pairing.comparable.any())
    yield _Drawing("objective-scatter", _scatter(pairing) if comparable else None)


def _ratios(pairing: Pairing, ratios: Floats, label: str) -> Chart:
    """Return the distribution function of the ratios of the problems."""
    a, b = pairing.a.about.name, pairing.b.about.name
    titles = f"{label}: {b} / {a}", "dispatching problems, %"
    line = chart_of(rows(one=[1])).mark_rule(color=SAME, strokeDash=[4, 3]).encode(x="one:Q")
    curve = distributions({b: ratios}, {b: Look(BETTER, 0)}, titles, linear=_RATIO_LINEAR)
    what = f"{len(ratios):,} problems; left of the line, {b} needs less"
    return sized(layers(curve, line), (270, 180), what)


def _scatter(pairing: Pairing) -> Chart:
    """Return the objectives of both dispatchers: a dot for each problem, by who is better."""
    a, b = pairing.a.about.name, pairing.b.about.name
    comparable = pairing.comparable
    x, y = (values[comparable] for values in pairing.both("objective"))
    signs = pairing.objective_order[comparable]
    kinds = (
        (0, SAME, "circle", "same"),
        (-1, BETTER, "triangle-down", "better"),
        (1, WORSE, "triangle-up", "worse"),
    )
    data, names = [], []
    for sign, _, _, what in kinds:
        chosen = signs == sign
        names.append(f"{b} {what}: {100 * int(chosen.sum()) / len(signs):.1f} %")
        some = distinct(x[chosen], y[chosen])
        data += rows(configuration=names[-1], x=x[chosen][some], y=y[chosen][some])
    scale, marks = value_scale([x, y])
    # Points are drawn up to the edge of the axes, not beyond.
    dots: alt.Chart = (
        chart_of(data)
        .mark_point(filled=True, size=16, opacity=0.6, clip=True)
        .encode(
            x=alt.X("x:Q", scale=scale, axis=value_axis(f"objective of {a}", marks)),
            y=alt.Y("y:Q", scale=scale, axis=value_axis(f"objective of {b}", marks)),
            color=alt.Color(
                "configuration:N",
                scale=alt.Scale(domain=names, range=[colour for _, colour, _, _ in kinds]),
                legend=alt.Legend(columns=1),
            ),
            shape=alt.Shape(
                "configuration:N",
                scale=alt.Scale(domain=names, range=[shape for _, _, shape, _ in kinds]),
            ),
        )
    )
    ends = [min(x.min(), y.min()), max(x.max(), y.max())]
    line = (
        chart_of(rows(x=ends, y=ends))
        .mark_line(color=SAME, strokeDash=[4, 3], strokeWidth=0.8)
        .encode(x=alt.X("x:Q", scale=scale), y=alt.Y("y:Q", scale=scale))
    )
    return sized(layers(line, dots), (240, 240), f"{len(signs):,} problems")


def distinct(x: Floats, y: Floats) -> IntArray:
    """Return the indices of points that are distinguishable in a figure, in their order.

    A vector file of hundreds of thousands of points could not be opened.

    Parameters
    ----------
    x, y
        Coordinates of the points, `[P]`.
    """
    places = []
    for values in (x, y):
        # As on a logarithmic scale, where values are positive.
        shown = np.log(values) if len(values) and values.min() > 0 else values
        least = shown.min(initial=np.inf)
        span = max(float(shown.max(initial=-np.inf) - least), 1e-12) if len(shown) else 1.0
        places.append(np.round((shown - least) / span * GRID))
    _, first = np.unique(np.stack(places, axis=1), axis=0, return_index=True)
    return np.sort(first)
