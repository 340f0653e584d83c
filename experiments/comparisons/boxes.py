"""Pictures of box plots in groups, on a logarithmic scale.

Boxes reach from the first to the third quartile, with a line at the median and a triangle at the
mean; the whiskers reach from the least value to the largest (Galleguillos and others, MOD 2017,
figures 3 to 5). The scale is linear below 1 where there are values of 0.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from comparisons.box_charts import Box, boxes
from comparisons.command import Drawing, Picture
from comparisons.pictures import write_picture
from hpcsched.report.figures.chart_parts import PALETTE, PAPER_WIDTH, Look, plot_width
from hpcsched.report.figures.chart_parts import panels as diagrams

_HEIGHT = 150
COLOURS = ("grey", "orange", "sky blue", "blue", "green", "purple", "vermilion", "yellow")
"""The colours of the boxes of a group, in order; from the first again where there are more."""


class Panel(NamedTuple):
    """One diagram: its title, that of its axis, and its boxes by group and by what is in each."""

    title: str
    measure: str
    boxes: Mapping[tuple[str, str], Box]

    @property
    def drawable(self) -> bool:
        """Whether anything of it is on a logarithmic scale."""
        return any(box.largest > 0 for box in self.boxes.values())


def draw_panels(
    name: str,
    panels: Sequence[Panel],
    groups: Sequence[str],
    members: Sequence[str],
    drawing: Drawing,
) -> Picture | None:
    """Draw panels below each other, boxes by group and in it by member, into files of this name.

    There is no picture where no panel has anything to draw. Raises InputError where a file cannot
    be written.
    """
    shown = [panel for panel in panels if panel.drawable]
    if not shown:
        return None
    looks = {
        member: Look(PALETTE[COLOURS[number % len(COLOURS)]], 0)
        for number, member in enumerate(members)
    }
    charts = [
        boxes(
            {(member, group): box for (group, member), box in panel.boxes.items()},
            groups,
            looks,
            panel.measure,
            (plot_width(PAPER_WIDTH), _HEIGHT),
        ).properties(title=panel.title)
        for panel in shown
    ]
    shows = "; ".join(f"{panel.title}, {panel.measure}" for panel in shown)
    return write_picture(name, shows, diagrams(charts, columns=1), drawing)
