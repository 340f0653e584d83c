"""Pictures of means with error bars of one standard deviation, on a logarithmic scale.

A bar that would reach below 0 is left out downwards, since that is not on the scale.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import altair as alt
import numpy as np

from comparisons.boxes import COLOURS
from comparisons.command import Drawing, Picture
from comparisons.in_papers_manner.spread import Spread
from comparisons.pictures import draw_picture
from hpcsched.report.figures.chart_parts import (
    INK,
    PALETTE,
    chart_of,
    layers,
    rows,
    value_axis,
    value_scale,
)


class Panel(NamedTuple):
    """One diagram: what it measures, and a mean with its deviation for each bar by name."""

    measure: str
    bars: Mapping[str, Spread]

    @property
    def drawable(self) -> bool:
        """Whether anything of it is on a logarithmic scale."""
        return any(bar.mean > 0 for bar in self.bars.values())


def draw_bars(name: str, title: str, panels: Sequence[Panel], drawing: Drawing) -> Picture | None:
    """Draw panels into files of this name; None where there is nothing to draw.

    Raises InputError where a file cannot be written.
    """
    shown = [panel for panel in panels if panel.drawable]
    shows = f"{title}: {'; '.join(panel.measure for panel in shown)}"
    over = f"{title}: mean, and one standard deviation"
    return draw_picture(name, shows, [_plot(one) for one in shown], drawing, title=over)


def _plot(panel: Panel) -> alt.LayerChart:
    bars = {name: bar for name, bar in panel.bars.items() if bar.mean > 0}
    # Bars of one dispatcher have one colour: what stands before the last hyphen is its name.
    dispatchers = list(dict.fromkeys(name.rpartition("-")[0] for name in panel.bars))
    # From 1 on, as in the papers, so that the lengths of bars can be compared.
    floor = min(1.0, *(bar.mean for bar in bars.values()))
    data = rows(
        bar=list(bars),
        mean=[bar.mean for bar in bars.values()],
        floor=floor,
        lower=[
            bar.mean - bar.deviation if bar.deviation < bar.mean else bar.mean
            for bar in bars.values()
        ],
        upper=[bar.mean + bar.deviation for bar in bars.values()],
        colour=[
            PALETTE[COLOURS[dispatchers.index(name.rpartition("-")[0]) % len(COLOURS)]]
            for name in bars
        ],
    )
    scale, marks = value_scale(
        np.array([floor, bar.mean, bar.mean + bar.deviation]) for bar in bars.values()
    )
    axis = alt.Axis(title=None, labelAngle=-45)
    base = chart_of(data).encode(x=alt.X("bar:N", sort=list(panel.bars), axis=axis))
    y = alt.Y("mean:Q", scale=scale, axis=value_axis(panel.measure, marks))
    return layers(
        base.mark_bar(stroke=INK, strokeWidth=0.5, clip=True).encode(
            y=y, y2="floor:Q", color=alt.Color("colour:N", scale=None)
        ),
        base.mark_rule(clip=True).encode(y=alt.Y("lower:Q", scale=scale), y2="upper:Q"),
        base.mark_tick(color=INK, size=6).encode(y=alt.Y("upper:Q", scale=scale)),
    )
