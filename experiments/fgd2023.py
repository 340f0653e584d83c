"""Shows the comparison: `python experiments/fgd2023.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.fgd2023.curves import draw_curves
from comparisons.fgd2023.outcomes import AXES, Outcomes
from comparisons.fgd2023.tables import MEASURES, means_table, summary_table
from comparisons.finished import Finished

PAGE = Path(__file__).parents[1] / "docs" / "fgd2023.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("fgd2023", "Show six ways to place tasks that share GPUs, as published.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("fgd2023", AXES, PAGE, content_of)


def content_of(finished: Finished, drawing: Drawing) -> Content:
    """Return a summary, the means of each workload, and the curves of the default one."""
    outcomes = Outcomes(finished)
    tables = (f"### {title}\n\n{means_table(outcomes, name)}" for name, title in MEASURES.items())
    pictures = draw_curves(outcomes, drawing)
    return [f"### In short\n\n{summary_table(outcomes)}", *tables, "### Over arrivals", *pictures]


if __name__ == "__main__":
    sys.exit(main())
