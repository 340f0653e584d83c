"""Puts what the runs came to into the page of the documentation."""

from collections.abc import Sequence
from pathlib import Path

from experiments.block import find_block
from experiments.debs2024.declaration import Experiment
from experiments.debs2024.figures import draw_figures
from experiments.debs2024.results import Comparison
from experiments.debs2024.table import as_markdown, effort

DOTS = 110
"""Dots per inch of the figures on the page: small files, legible on a screen."""


def write_page(comparison: Comparison, page: Path) -> list[Path]:
    """Write table and figures into a page, between the comments that delimit them.

    The figures of which no run is missing go into a folder `figures/NAME` beside the page. Returns
    all files that were written. Raises InputError where the page lacks the comments or a file
    cannot be written.
    """
    experiment = comparison.experiment
    block = find_block(page, experiment.name)
    folder = page.parent / "figures" / experiment.name
    drawn = draw_figures(comparison, folder, {"png": DOTS}, whole=True)
    content = [as_markdown(comparison), "", effort(comparison.results)]
    content += _pictures(experiment, drawn, page.parent)
    block.fill("\n".join(content))
    return [page, *drawn]


def _pictures(experiment: Experiment, drawn: Sequence[Path], folder: Path) -> list[str]:
    titles = {figure.name: figure.title for figure in experiment.figures}
    lines = []
    for path in drawn:
        alternative = f"{path.stem.replace('-', ' ').capitalize()}: {titles[path.stem]}"
        lines += ["", f"![{alternative}]({path.relative_to(folder).as_posix()})"]
    return lines
