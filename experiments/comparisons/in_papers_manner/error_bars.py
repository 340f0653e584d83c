"""Pictures of means with error bars of one standard deviation, on a logarithmic scale.

A bar that would reach below 0 is left out downwards, since that is not on the scale.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from comparisons.boxes import COLOURS
from comparisons.command import Drawing, Picture
from comparisons.in_papers_manner.spread import Spread
from comparisons.pictures import draw_picture
from hpcsched.report.figures.figure_style import INK, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    return draw_picture(name, shows, [partial(_plot, one) for one in shown], drawing, title=over)


def _plot(panel: Panel, axes: "Axes") -> None:
    names = list(panel.bars)
    # Bars of one dispatcher have one colour: what stands before the last hyphen is its name.
    dispatchers = list(dict.fromkeys(name.rpartition("-")[0] for name in names))
    for x, (name, bar) in enumerate(panel.bars.items()):
        if not bar.mean > 0:
            continue
        colour = COLOURS[dispatchers.index(name.rpartition("-")[0]) % len(COLOURS)]
        axes.bar(x, bar.mean, 0.7, color=PALETTE[colour], edgecolor=INK, linewidth=0.5)
        below = bar.deviation if bar.deviation < bar.mean else 0.0
        reach = [[below], [bar.deviation]]
        axes.errorbar(x, bar.mean, yerr=reach, color=INK, capsize=3, linewidth=0.8)
    axes.set_yscale("log")
    # From 1 on, as in the papers, so that the lengths of bars can be compared.
    axes.set_ylim(bottom=min(1.0, *(bar.mean for bar in panel.bars.values() if bar.mean > 0)))
    axes.set_ylabel(panel.measure)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=7)
    axes.grid(True, axis="y")
