"""Shows the tables: `python experiments/cp2021.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.cp2021.paper import TRACES
from comparisons.cp2021.table import as_markdown
from comparisons.finished import Finished

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "cp2021.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("cp2021", "Show what decisions take under HCP'19, PCP'19 and PCP'21.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("cp2021", ("system", "dispatcher", "predictor"), PAGE, content_of)


def content_of(finished: Finished, _: Drawing) -> Content:
    """Return the two tables."""
    return [f"### {title}\n\n{as_markdown(finished, trace)}" for trace, title in TRACES.items()]


if __name__ == "__main__":
    sys.exit(main())
