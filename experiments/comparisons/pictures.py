"""Pictures of several diagrams, side by side."""

from collections.abc import Sequence

import altair as alt

from comparisons.command import Drawing, Picture
from hpcsched.report.figures.chart_parts import (
    PAPER_WIDTH,
    Chart,
    panels,
    plot_width,
    sized,
    write_figure,
)
from hpcsched.whole_files import make_folder

Plot = alt.Chart | alt.LayerChart
"""One diagram, without a size."""

COLUMNS = 2
_HEIGHT = 160


def draw_picture(
    name: str, shows: str, plots: Sequence[Plot], drawing: Drawing, *, title: str = ""
) -> Picture | None:
    """Draw diagrams, two in a row, into files of this name; None where there are none.

    Raises InputError where a file cannot be written.
    """
    if not plots:
        return None
    size = plot_width(PAPER_WIDTH, COLUMNS), _HEIGHT
    # Each diagram has colours of its own.
    whole = panels([sized(plot, size) for plot in plots], COLUMNS)
    if len(plots) > 1:
        whole = whole.resolve_scale(
            color="independent", shape="independent", strokeDash="independent"
        )
    if title:
        whole = whole.properties(title=title)
    return write_picture(name, shows, whole, drawing)


def write_picture(name: str, shows: str, chart: Chart, drawing: Drawing) -> Picture:
    """Draw a chart into files of this name; raises InputError where one cannot be written."""
    make_folder(drawing.folder)
    files = [drawing.folder / f"{name}.{kind}" for kind in drawing.formats]
    for path, dots in zip(files, drawing.formats.values(), strict=True):
        write_figure(chart, path, force=True, dots=dots)
    return Picture(shows, files)
