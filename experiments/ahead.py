"""Shows the comparison: `python experiments/ahead.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from comparisons.ahead.cells import AXES, METRICS, Cells
from comparisons.ahead.tables import SETS, behind_table, cells_table, rows_of, summary_table
from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.finished import Finished
from comparisons.kept import join, keep

PAGE = Path(__file__).parents[1] / "docs" / "ahead.md"
KEPT = Path(__file__).with_name("ahead.csv")
"""Outcomes that the page shows; `--write-docs` adds those of the folder."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("ahead", "Show hyper and order-search beside seven rules on eleven logs.")
    return carry_out(parser, arguments, _choose)


def _choose(options: argparse.Namespace) -> Shown:
    return Shown("ahead", AXES, PAGE, partial(content_of, kept=KEPT, adding=options.write_docs))


def content_of(finished: Finished, _: Drawing, *, kept: Path, adding: bool) -> Content:
    """Return the summary, and tables of tuning and unseen logs: of stretches, and of whole logs.

    They are of the kept outcomes too, to which those of the runs are added if it is asked for.
    """
    outcomes = join(kept, finished, list(METRICS.values()))
    if adding:
        keep(kept, outcomes)
    cells = Cells(finished.axes, outcomes)
    content = [f"### In short\n\n{summary_table(cells)}"]
    for kind in SETS:
        content.append(f"### {kind.capitalize()} logs\n\n{cells_table(rows_of(cells, kind))}")
    content.append(
        f"### Stretches in which hyper is behind by more than 2 %\n\n{behind_table(cells)}"
    )
    for kind in SETS:
        of_whole = cells_table(rows_of(cells, kind, whole=True))
        content.append(f"### {kind.capitalize()} logs, whole, one seed\n\n{of_whole}")
    return content


if __name__ == "__main__":
    sys.exit(main())
