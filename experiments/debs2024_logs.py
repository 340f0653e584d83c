"""Shows the comparison: `python experiments/debs2024_logs.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.debs2024.declaration import read_presentation
from comparisons.debs2024_logs.paper import HALVES
from comparisons.debs2024_logs.shares import DELAYS, LOG, Shares
from comparisons.debs2024_logs.tables import baseline_table, delayed_table, half_table, last_table
from comparisons.finished import Finished
from debs2024 import SHOWN

PAGE = Path(__file__).parents[1] / "docs" / "debs2024.md"
NAME = "debs2024_logs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser(NAME, "Show table 2 of Goponenko and others (DEBS 2024) on five logs.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    axes = (LOG, "predictor", "objective", "dispatcher", DELAYS)
    return Shown(NAME, axes, PAGE, content_of)


def content_of(finished: Finished, _: Drawing) -> Content:
    """Return a table for each half, what 100 % is in them, and two of what moves them."""
    objectives = read_presentation(SHOWN).objectives
    titles = {label: target.title for label, target in objectives.items()}
    shares = Shares(finished, {label: target.metric for label, target in objectives.items()})
    content = []
    for half, name in HALVES.items():
        content += [f"### Run times {name}", half_table(shares, titles, half)]
    content += ["### List-REG in full", baseline_table(shares, titles)]
    content += ["### Without the jobs that end last", last_table(shares, titles)]
    return [*content, "### Delayed arrivals", delayed_table(shares, titles)]


if __name__ == "__main__":
    sys.exit(main())
