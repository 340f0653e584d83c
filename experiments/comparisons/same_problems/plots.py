"""The figures: curves of ratios, and points for single problems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import altair as alt
import numpy as np

from comparisons.command import Drawing, Picture
from comparisons.pictures import Plot, draw_picture
from comparisons.same_problems.papers import Figure, Pair, Paper
from comparisons.same_problems.questions import Answers
from comparisons.same_problems.table import MEASURES, Pairings, ratios_of
from hpcsched.report.figures.chart_parts import (
    DASHES,
    PALETTE,
    Look,
    chart_of,
    colours,
    layers,
    rows,
    value_axis,
    value_scale,
)
from hpcsched.report.figures.run_figures import distributions
from hpcsched.studies.problems.solving import SAME_TIME, Floats, Mask, Pairing

BETTER, SAME, WORSE = PALETTE["green"], PALETTE["blue"], PALETTE["vermilion"]
"""The colours of the thesis, of dots: for the pair's first dispatcher, neither, and the other."""


def draw(
    paper: Paper,
    figure: Figure,
    answers: Mapping[str, Answers],
    pairings: Pairings,
    drawing: Drawing,
) -> Picture | None:
    """Draw a figure; None where it is about no problem."""
    chosen = {key: one for key, one in pairings.items() if key[0] in figure.pairs}
    number = figure.name.replace("-", " ").capitalize()
    if figure.kind in MEASURES:
        curves = {
            _named(paper, key): ratios_of(one, figure.kind)
            for key, one in chosen.items()
            if len(ratios_of(one, figure.kind))
        }
        measure = f"ratio of {MEASURES[figure.kind]}"
        plots: Sequence[Plot] = [_curves(curves, measure)] if curves else []
        return draw_picture(figure.name, f"{number}: {measure}", plots, drawing)
    points: Callable[[Pair, str, Pairing], Iterator[Plot]]
    shows, points = {
        "both": ("ratios of times and fails, problem by problem", partial(_both, paper)),
        "scatter": ("values of both objectives", partial(_scatter, paper)),
        "groups": ("groups by queue and pressure", partial(_by_group, paper, answers)),
    }[figure.kind]
    plots = [plot for (pair, letter), one in chosen.items() for plot in points(pair, letter, one)]
    return draw_picture(figure.name, f"{number}: {shows}", plots, drawing)


def _named(paper: Paper, key: tuple[Pair, str]) -> str:
    pair, letter = key
    return f"{paper.name_of(pair)}, {letter}"


def _curves(curves: Mapping[str, Floats], measure: str) -> alt.LayerChart:
    palette = ("blue", "orange", "green", "vermilion", "purple", "black")
    looks = {
        name: Look(PALETTE[palette[k % len(palette)]], k % len(DASHES))
        for k, name in enumerate(curves)
    }
    return layers(distributions(curves, looks, (measure, "problems, %")), _one("x"))


def _one(axis: str) -> alt.Chart:
    """Return the line at a ratio of 1."""
    line = chart_of(rows(one=[1])).mark_rule(color=PALETTE["grey"], strokeDash=[4, 3])
    placed: alt.Chart = line.encode(**{axis: alt.X("one:Q") if axis == "x" else alt.Y("one:Q")})
    return placed


def _dots(
    points: Mapping[str, tuple[Floats, Floats]],
    looks: Mapping[str, str],
    titles: tuple[str, str],
    *,
    linear: bool = False,
) -> alt.Chart:
    """Return dots by name and colour; the second axis is linear or as the values are."""
    data = [row for name, (x, y) in points.items() for row in rows(configuration=name, x=x, y=y)]
    x_scale, x_marks = value_scale([x for x, _ in points.values()])
    y_scale, y_marks = value_scale([y for _, y in points.values()], 0.01)
    if linear:
        y_scale, y_marks = alt.Scale(zero=True), []
    chart: alt.Chart = (
        chart_of(data)
        .mark_circle(size=10, opacity=0.8, clip=True)
        .encode(
            x=alt.X("x:Q", scale=x_scale, axis=value_axis(titles[0], x_marks)),
            y=alt.Y("y:Q", scale=y_scale, axis=value_axis(titles[1], y_marks)),
            color=colours({name: Look(colour, 0) for name, colour in looks.items()}),
        )
    )
    return chart


def _both(paper: Paper, pair: Pair, letter: str, pairing: Pairing) -> Iterator[Plot]:
    (time_a, time_b), (fails_a, fails_b) = pairing.both("decision_time"), pairing.both("fails")
    with np.errstate(invalid="ignore"):
        known = (fails_a > 0) & np.isfinite(fails_b) & (time_a > 0)
    if not known.any():
        return
    x, y = time_b[known] / time_a[known], fails_b[known] / fails_a[known]
    inside = float(((x <= 1) & (y <= 1)).mean())

    title = f"{_named(paper, (pair, letter))}: both 1 or less, {inside:.0%}"
    dots = _dots({"": (x, y)}, {"": SAME}, ("ratio of decision time", "ratio of fails"))
    yield layers(dots, _one("x"), _one("y")).properties(title=title)


def _scatter(paper: Paper, pair: Pair, letter: str, pairing: Pairing) -> Iterator[Plot]:
    comparable, signs = pairing.comparable, pairing.objective_order
    if not comparable.any():
        return
    over, of = pairing.both("objective")

    points, looks = {}, {}
    for sign, colour, word in ((0, SAME, "same"), (-1, BETTER, "better"), (1, WORSE, "worse")):
        these = comparable & (signs == sign)
        name = f"{word}: {int(these.sum())}"
        points[name], looks[name] = (of[these], over[these]), colour
    names = f"{paper.names[pair.of]}-{letter}", f"{paper.names[pair.over]}-{letter}"
    yield _dots(points, looks, (f"objective, {names[0]}", f"objective, {names[1]}"))


def _by_group(
    paper: Paper, answers: Mapping[str, Answers], pair: Pair, letter: str, pairing: Pairing
) -> Iterator[Plot]:
    asked = answers[letter]
    of_group = list(_in_groups(pairing))
    if not any(these.any() for these in of_group):
        return

    points, looks = {}, {}
    for k, (these, colour) in enumerate(zip(of_group, (BETTER, SAME, WORSE), strict=True), 1):
        shown = these & np.isfinite(asked.pressure)
        name = f"group {k}: {int(these.sum())}"
        points[name], looks[name] = (asked.pressure[shown], asked.queued[shown]), colour
    titles = "requested / available resources", "queued jobs"
    dots = _dots(points, looks, titles, linear=True)
    yield dots.properties(title=_named(paper, (pair, letter)))


def _in_groups(pairing: Pairing) -> Iterator[Mask]:
    """Yield which compared problems are in groups 1, 2 and 3 of the thesis's table 6.3."""
    objective, time = pairing.objective_order, pairing.time_order(SAME_TIME)
    first = (objective <= 0) & (time <= 0)
    second = objective * time < 0
    for group in (first, second, ~first & ~second):
        yield group & pairing.comparable
