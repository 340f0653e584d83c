"""Pictures of several diagrams, side by side."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from comparisons.command import Drawing, Picture
from hpcsched.problems.whole_files import cannot_write, make_folder, replacing
from hpcsched.report.figures.figure_style import STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Plot = Callable[["Axes"], None]
"""Draws one diagram into its axes."""

COLUMNS = 2
WIDTH = 7.4


def draw_picture(
    name: str, shows: str, plots: Sequence[Plot], drawing: Drawing, *, title: str = ""
) -> Picture | None:
    """Draw diagrams, two in a row, into files of this name; None where there are none.

    Raises InputError where a file cannot be written.
    """
    if not plots:
        return None
    make_folder(drawing.folder)
    files = [drawing.folder / f"{name}.{kind}" for kind in drawing.formats]
    for path, dots in zip(files, drawing.formats.values(), strict=True):
        _save(plots, path, dots, title)
    return Picture(shows, files)


def _save(plots: Sequence[Plot], path: Path, dots: int, title: str) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    kind = path.suffix.removeprefix(".")
    columns = min(COLUMNS, len(plots))
    rows = -(-len(plots) // columns)
    with mpl.rc_context(STYLE), replacing(path, force=True) as unfinished:
        figure = Figure(figsize=(WIDTH * columns / COLUMNS, 2.9 * rows), layout="constrained")
        grid = list(figure.subplots(rows, columns, squeeze=False).flat)
        for plot, axes in zip(plots, grid, strict=False):
            plot(axes)
        for axes in grid[len(plots) :]:
            axes.set_visible(False)
        if title:
            figure.suptitle(title, fontsize=9)
        try:
            figure.savefig(unfinished, format=kind, dpi=dots, metadata=UNDATED[kind])
        except OSError as error:
            raise cannot_write(path, error) from error
