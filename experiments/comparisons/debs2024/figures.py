"""The figures of a comparison: bars in percent of the baseline, the paper's values beside them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from comparisons.command import Drawing, Picture
from comparisons.debs2024.declaration import Figure
from comparisons.debs2024.results import Comparison
from comparisons.pictures import write_picture
from hpcsched.report.figures.chart_parts import INK, PALETTE, chart_of, layers, rows, sized

_STEP, _WIDTH = 40, 28
"""Distance of bars and their width, in points."""
_LABELS = alt.Axis(title=None, labelAngle=-35)
_SHAPES = {"lower bound": "stroke", "paper": "diamond"}


class Bar(NamedTuple):
    """A bar: what it is called, its colour, and percentages of the baseline, None if not known."""

    label: str
    colour: str
    value: float | None
    bound: float | None
    paper: int | None


def bars(comparison: Comparison, figure: Figure) -> list[Bar]:
    """Return the bars of a figure, from left to right."""
    shown, half, objective = comparison.shown, figure.half, figure.objective
    found = []
    for label in figure.runs:
        printed = shown.printed(objective, label, half)
        found.append(
            Bar(
                label,
                PALETTE[shown.run_named(label).colour],
                comparison.share(half, label, objective),
                comparison.bound(half, label, objective),
                None if printed is None else printed.percent,
            )
        )
    return found


def draw_figures(comparison: Comparison, drawing: Drawing) -> list[Picture]:
    """Draw the figures that show at least one run beside the baseline.

    With `drawing.whole`, only those of which no run is missing. Raises InputError where one cannot
    be written.
    """
    drawn: list[Picture] = []
    shown = comparison.shown
    for figure in shown.figures:
        all_bars = bars(comparison, figure)
        there = [bar for bar in all_bars if bar.value is not None]
        if all(bar.label == shown.baseline for bar in there):
            continue
        if drawing.whole and there != all_bars:
            continue
        what = f"{shown.objectives[figure.objective].title}, % of {shown.baseline}"
        name = figure.name.replace("-", " ").capitalize()
        chart = bar_chart(all_bars, figure.title, what)
        drawn.append(write_picture(figure.name, f"{name}: {figure.title}", chart, drawing))
    return drawn


def bar_chart(shown: Sequence[Bar], title: str, what: str) -> alt.LayerChart:
    """Return the chart of bars with the paper's values, lower bounds, and the baseline at 100."""
    data = rows(
        bar=[bar.label for bar in shown],
        colour=[bar.colour for bar in shown],
        value=[bar.value for bar in shown],
        # Above the paper's marker as well, so that they do not overlap.
        above=[None if bar.value is None else max(bar.value, bar.paper or 0) for bar in shown],
        text=["not run" if bar.value is None else f"{bar.value:.1f}" for bar in shown],
    )
    highest = max(100, *(max(bar.value or 0, bar.paper or 0) for bar in shown))
    y = alt.Scale(domain=[0, 1.15 * highest], nice=False)
    labels = [bar.label for bar in shown]
    x = alt.X("bar:N", sort=labels, axis=_LABELS)
    base = chart_of(data).encode(x=x)

    def marks(kind: str, values: Sequence[float | None], **look: Any) -> alt.Chart:
        known = [(bar.label, v) for bar, v in zip(shown, values, strict=True) if v is not None]
        kinds = alt.Scale(domain=list(_SHAPES), range=list(_SHAPES.values()))
        marked: alt.Chart = (
            chart_of(rows(bar=[bar for bar, _ in known], value=[v for _, v in known], kind=kind))
            .mark_point(stroke=INK, **look)
            .encode(x=x, y=alt.Y("value:Q", scale=y), shape=alt.Shape("kind:N", scale=kinds))
        )
        return marked

    found = [
        chart_of(rows(value=[100])).mark_rule(strokeDash=[4, 3]).encode(y="value:Q"),
        base.mark_bar(stroke=INK, strokeWidth=0.5, width=_WIDTH).encode(
            y=alt.Y("value:Q", scale=y, axis=alt.Axis(title=what)),
            color=alt.Color("colour:N", scale=None),
        ),
        base.transform_filter("isValid(datum.above)")
        .mark_text(baseline="bottom", dy=-7)
        .encode(y=alt.Y("above:Q", scale=y), text="text:N"),
        base.transform_filter("!isValid(datum.above)")
        .mark_text(angle=270, align="left", dx=3)
        .encode(y=alt.YDatum(0, scale=y), text="text:N"),
    ]
    bounds, papers = [bar.bound for bar in shown], [bar.paper for bar in shown]
    if any(bound is not None for bound in bounds):
        found.append(marks("lower bound", bounds, size=(_WIDTH + 6) ** 2, strokeWidth=1.6))
    if any(paper is not None for paper in papers):
        found.append(marks("paper", papers, size=30, filled=True, fill="white"))
    return sized(layers(*found), (_STEP * len(shown), 190), title)
