"""The figure of a what-if study: mean differences from the base with their intervals."""

import altair as alt

from hpcsched.report.compared_study import QUANTITIES
from hpcsched.report.figures.chart_parts import (
    Figure,
    chart_of,
    layers,
    plot_width,
    rows,
    sized,
    time_unit,
)
from hpcsched.report.figures.figure_style import INK, PALETTE, PAPER_WIDTH
from hpcsched.studies.whatif.whatif_study import WhatIfStudy

_ROW = 14
_COLOURS = {
    "lower": PALETTE["green"],
    "higher": PALETTE["vermilion"],
    "within noise": PALETTE["grey"],
}


def differences_figure(
    study: WhatIfStudy, quantity: str = "wait_time", width: int = PAPER_WIDTH
) -> Figure:
    """Return the figure of the differences of variants from the base.

    Parameters
    ----------
    study
        The study.
    quantity
        Quantity that is compared.
    width
        Width, in points.
    """
    about = QUANTITIES[quantity]
    found = [(one.name, one.differences[quantity]) for one in study.variants]
    drawn = [(name, one, one.interval) for name, one in found]
    largest = max(
        (abs(end) for _, _, interval in drawn if interval for end in interval), default=0.0
    )
    size, unit = time_unit(largest) if about.unit == "s" else (1, about.unit)
    data = [
        row
        for name, one, interval in drawn
        if interval is not None
        for row in rows(
            variant=name,
            mean=interval.mean / size,
            lower=min(interval.lower, interval.mean) / size,
            upper=max(interval.upper, interval.mean) / size,
            colour=_COLOURS[one.verdict],
            verdict=one.verdict,
        )
    ]
    title = f"difference in mean {about.title}" + (f" [{unit}]" if unit else "")
    x = alt.X("lower:Q", axis=alt.Axis(title=title), scale=alt.Scale(zero=True))
    names = [name for name, _, _ in drawn]
    y = alt.Y("variant:N", sort=names, axis=alt.Axis(title=None, grid=False, labelLimit=220))
    colour = alt.Color("colour:N", scale=None)
    tooltip = ["variant:N", "mean:Q", "lower:Q", "upper:Q", "verdict:N"]
    base = chart_of(data)
    chart = layers(
        base.mark_rule(strokeWidth=2).encode(x=x, x2="upper:Q", y=y, color=colour, tooltip=tooltip),
        base.mark_point(filled=True, size=40).encode(x="mean:Q", y=y, color=colour),
        chart_of(rows(at=0.0)).mark_rule(color=INK, strokeDash=[3, 2]).encode(x="at:Q"),
    )
    caption = (
        "Points: the mean difference of the same jobs from the base; lines: 95 % intervals. Left of"
        " 0 the jobs fare better. Variants are sorted by the objective; grey ones are within noise."
    )
    plot = plot_width(width), _ROW * max(len(drawn), 3)
    return Figure(f"differences-{quantity}", f"Mean {about.title}", caption, sized(chart, plot))
