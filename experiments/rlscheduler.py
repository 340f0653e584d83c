"""Shows the tables: `python experiments/rlscheduler.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.finished import Finished
from comparisons.rlscheduler.table import AXES, LOG, behind, means_table, windows_table

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "rlscheduler.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("rlscheduler", "Show the heuristics of RLScheduler, and other schedulers.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("rlscheduler", AXES, PAGE, content_of)


def content_of(finished: Finished, _: Drawing) -> Content:
    """Return the table of means, one of the windows of each log, and what they come to."""
    windows = [f"### {log}\n\n{windows_table(finished, log)}" for log in finished.axes[LOG]]
    return [f"### Means\n\n{means_table(finished)}", *windows, *behind(finished)]


if __name__ == "__main__":
    sys.exit(main())
