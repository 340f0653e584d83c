"""Puts what the runs came to into the page of the documentation."""

from collections.abc import Mapping
from pathlib import Path

from experiments.block import find_block
from experiments.predictors.boxes import PICTURES, draw_boxes
from experiments.predictors.declaration import Comparison
from experiments.predictors.distributions import Outcome
from experiments.predictors.table import as_markdown

DOTS = 110
"""Dots per inch of the pictures on the page: small files, legible on a screen."""


def write_page(
    comparison: Comparison, outcomes: Mapping[str, Mapping[str, Outcome]], page: Path
) -> list[Path]:
    """Write tables and pictures of each trace into a page, between the comments that delimit them.

    Pictures go into a folder `figures/NAME` beside the page. Returns all files that were written.
    Raises InputError where the page lacks the comments or a file cannot be written.
    """
    block = find_block(page, comparison.name)
    folder = page.parent / "figures" / comparison.name
    content: list[str] = []
    drawn: list[Path] = []
    for trace, found in outcomes.items():
        content.append(f"### {trace}\n\n{as_markdown(comparison, found)}")
        pictures = draw_boxes(comparison, trace, found, folder, {"png": DOTS})
        for path in pictures:
            title, _ = PICTURES[path.stem.removeprefix(f"{trace}-")]
            content.append(f"![{trace}, {title}]({path.relative_to(page.parent).as_posix()})")
        drawn += pictures
    block.fill("\n\n".join(content))
    return [page, *drawn]
