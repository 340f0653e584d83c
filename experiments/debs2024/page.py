"""Puts what the runs came to into the page of the documentation."""

from collections.abc import Sequence
from pathlib import Path

from experiments.debs2024.declaration import Experiment
from experiments.debs2024.figures import draw_figures
from experiments.debs2024.results import Comparison
from experiments.debs2024.table import as_markdown, effort
from hpcsched.results.files import problem, write_text
from hpcsched.scenario.document import read_text

DOTS = 110
"""Dots per inch of the figures on the page: small files, legible on a screen."""


def write_page(comparison: Comparison, page: Path) -> list[Path]:
    """Write table and figures into a page, between the comments that delimit them.

    The figures of which no run is missing go into a folder `figures/NAME` beside the page. Returns
    all files that were written. Raises InputError where the page lacks the comments or a file
    cannot be written.
    """
    experiment = comparison.experiment
    before, after = _around(page, experiment.name)
    folder = page.parent / "figures" / experiment.name
    drawn = draw_figures(comparison, folder, {"png": DOTS}, whole=True)
    content = [as_markdown(comparison), "", effort(comparison.results)]
    content += _pictures(experiment, drawn, page.parent)
    write_text(page, before + "\n".join(content) + "\n" + after)
    return [page, *drawn]


def _around(page: Path, name: str) -> tuple[str, str]:
    """Return the text up to and from the comments, these included."""
    text = read_text(page)
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    if text.count(begin) != 1 or text.count(end) != 1 or text.index(end) < text.index(begin):
        message = f"it needs one line {begin.strip()} and after it one {end}"
        raise problem("no-block", page, message)
    start = text.index(begin) + len(begin)
    return text[:start], text[text.index(end) :]


def _pictures(experiment: Experiment, drawn: Sequence[Path], folder: Path) -> list[str]:
    titles = {figure.name: figure.title for figure in experiment.figures}
    lines = []
    for path in drawn:
        alternative = f"{path.stem.replace('-', ' ').capitalize()}: {titles[path.stem]}"
        lines += ["", f"![{alternative}]({path.relative_to(folder).as_posix()})"]
    return lines
