"""Figures of the distributions of accuracies and absolute errors.

Accuracies are drawn as in figures 4.1 and 4.7 of Galleguillos' thesis (2020), absolute errors as in
figure 4.2, for any predictors.
"""

from collections.abc import Iterable
from itertools import cycle

import altair as alt

from hpcsched.report.figures.chart_parts import (
    Chart,
    chart_of,
    colours,
    dashes,
    layers,
    rows,
    sized,
)
from hpcsched.report.figures.figure_style import DASHES, PALETTE, Look
from hpcsched.studies.predictor_evaluation.figures import ACCURACIES, ERRORS, Shares
from hpcsched.studies.predictor_evaluation.predictor_selection import BASELINE

_COLOURS = ("blue", "vermilion", "green", "orange", "purple", "sky blue", "black")
_BASELINE_STYLE = 3
_SIZE = (330, 190)
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def accuracy_chart(shares: Shares) -> Chart:
    """Return the chart of the share of jobs up to each accuracy."""
    data = [
        row
        for title, of_title in shares.accuracy.items()
        for row in rows(
            configuration=title, accuracy=ACCURACIES, percent=[100 * share for share in of_title]
        )
    ]
    looks = _looks(shares.accuracy)
    exact = chart_of(rows(accuracy=[1])).mark_rule(color=PALETTE["light grey"])
    curves = (
        chart_of(data)
        .mark_line(interpolate="step-after", strokeWidth=1.4)
        .encode(
            x=alt.X(
                "accuracy:Q",
                scale=alt.Scale(domain=[0, ACCURACIES[-1]], nice=False),
                axis=alt.Axis(
                    title="accuracy: run time / predicted run time (right of 1: underestimated)"
                ),
            ),
            y=alt.Y(
                "percent:Q",
                scale=alt.Scale(domain=[0, 101], nice=False),
                axis=alt.Axis(title="jobs at or below, %"),
            ),
            color=colours(looks),
            strokeDash=dashes(looks),
        )
    )
    return sized(layers(exact.encode(x="accuracy:Q"), curves), _SIZE)


def error_chart(shares: Shares) -> Chart:
    """Return the chart of the share of jobs by class of absolute error."""
    names = ["0 s", *(f"≥ {_duration(begin)}" for begin in ERRORS[1:])]
    data = [
        row
        for title, of_title in shares.error.items()
        for row in rows(
            configuration=title, error=names, percent=[100 * share for share in of_title]
        )
    ]
    looks = _looks(shares.error)
    title = "absolute error, up to where the next class begins"
    base = chart_of(data).encode(
        # At equal distances: classes reach from a second to a day, and the first one is zero.
        x=alt.X("error:O", sort=names, axis=alt.Axis(title=title, labelAngle=-45)),
        y=alt.Y("percent:Q", scale=alt.Scale(zero=True), axis=alt.Axis(title="jobs, %")),
        color=colours(looks),
    )
    return sized(
        layers(
            base.mark_line(strokeWidth=1.4).encode(strokeDash=dashes(looks)),
            base.mark_point(filled=True, size=12, opacity=1),
        ),
        _SIZE,
    )


def _looks(titles: Iterable[str]) -> dict[str, Look]:
    """Return the look of each predictor: the baseline in grey, the others in colours."""
    others = cycle((colour, style) for style in range(len(DASHES)) for colour in _COLOURS)
    looks = {}
    for title in titles:
        colour, style = ("grey", _BASELINE_STYLE) if title == BASELINE else next(others)
        looks[title] = Look(PALETTE[colour], style)
    return looks


def _duration(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _UNITS if seconds % size == 0)
    return f"{seconds // size} {unit}"
