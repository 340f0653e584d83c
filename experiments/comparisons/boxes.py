"""Pictures of box plots in groups, on a logarithmic scale.

Boxes reach from the first to the third quartile, with a line at the median and a triangle at the
mean; the whiskers reach from the least value to the largest (Galleguillos and others, MOD 2017,
figures 3 to 5). What is 0 is not on a logarithmic scale, and is not drawn.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from comparisons.command import Drawing, Picture
from hpcsched.problems.whole_files import cannot_write, make_folder, replacing
from hpcsched.report.figures.boxes import Box, draw_box
from hpcsched.report.figures.figure_style import PALETTE, STYLE, UNDATED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    make_folder(drawing.folder)
    files = [drawing.folder / f"{name}.{kind}" for kind in drawing.formats]
    for path, dots in zip(files, drawing.formats.values(), strict=True):
        _save(shown, groups, members, path, dots)
    return Picture("; ".join(f"{panel.title}, {panel.measure}" for panel in shown), files)


def _save(
    panels: Sequence[Panel],
    groups: Sequence[str],
    members: Sequence[str],
    path: Path,
    dots: int,
) -> None:
    import matplotlib as mpl  # noqa: PLC0415 (it takes its time)
    from matplotlib.figure import Figure  # noqa: PLC0415

    kind = path.suffix.removeprefix(".")
    with mpl.rc_context(STYLE), replacing(path, force=True) as unfinished:
        figure = Figure(figsize=(7.4, 0.6 + 2.6 * len(panels)), layout="constrained")
        named: set[str] = set()
        # On one scale, so that panels can be compared.
        grid = figure.subplots(len(panels), squeeze=False, sharey=True)
        for panel, axes in zip(panels, grid[:, 0], strict=True):
            _plot(panel, groups, members, axes, named)
            axes.set_ylabel(panel.measure)
            axes.set_title(panel.title, fontsize=9)
        figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=7)
        try:
            figure.savefig(unfinished, format=kind, dpi=dots, metadata=UNDATED[kind])
        except OSError as error:
            raise cannot_write(path, error) from error


def _plot(
    panel: Panel, groups: Sequence[str], members: Sequence[str], axes: "Axes", named: set[str]
) -> None:
    step = 0.8 / len(members)
    for k, group in enumerate(groups):
        for m, member in enumerate(members):
            box = panel.boxes.get((group, member))
            if box is None:
                continue
            drawn = draw_box(
                axes,
                box,
                k + step * (m - (len(members) - 1) / 2),
                0.8 * step,
                colour=PALETTE[COLOURS[m % len(COLOURS)]],
            )
            if member not in named:
                drawn.set_label(member)
                named.add(member)
    axes.set_yscale("log")
    axes.set_xticks(range(len(groups)), list(groups))
    axes.set_xlim(-0.55, len(groups) - 0.45)
    axes.grid(True, axis="y")
