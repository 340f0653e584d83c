"""Shows the regret of settings of `hyper`: `python experiments/switching.py --help` says how."""

import argparse
import sys
from collections import defaultdict
from collections.abc import Sequence
from math import exp, fsum, log
from pathlib import Path

from comparisons.ahead.cells import AXES, METRICS
from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.finished import Finished
from hpcsched.report.tables.report_table import MISSING, Table

PAGE = Path(__file__).parents[1] / "docs" / "hyper.md"

SETTING = "hyper"
"""What labels of settings begin with; the other dispatchers are members of the portfolio."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("switching", "Show what switching between dispatchers costs and gains.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("switching", AXES, PAGE, content_of)


def content_of(finished: Finished, _: Drawing) -> Content:
    """Return the table of regrets: geometric means over logs, predictors, seeds; the worst."""
    lines = []
    found = ratios(finished)
    for name in finished.axes["dispatcher"]:
        line = [name]
        for objective in METRICS:
            of_cells = found.get((name, objective))
            line.append(MISSING)
            if of_cells:
                mean = exp(fsum(map(log, of_cells)) / len(of_cells))
                line[-1] = f"{mean:.3f} ({max(of_cells):.2f})"
        lines.append(line)
    return [Table(["dispatcher", *METRICS], lines, words=1).as_markdown()]


def ratios(finished: Finished) -> dict[tuple[str, str], list[float]]:
    """Return figures by that of the best member of the same cell, by dispatcher and objective.

    Cells in which a member is missing are left out.
    """
    cells: dict[tuple[str, ...], dict[str, float]] = defaultdict(dict)
    for one in finished.runs:
        log_name, predictor, pursued, name, seed = (one.labels[axis] for axis in AXES)
        for objective in (pursued,) if name.startswith(SETTING) else METRICS:
            figure = one.run.summary["metrics"][METRICS[objective]]
            cells[objective, log_name, predictor, seed][name] = figure
    members = [name for name in finished.axes["dispatcher"] if not name.startswith(SETTING)]
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for (objective, *_), figures in cells.items():
        if figures.keys() >= set(members):
            best = min(figures[name] for name in members)
            for name, figure in figures.items():
                found[name, objective].append(figure / best)
    return found


if __name__ == "__main__":
    sys.exit(main())
