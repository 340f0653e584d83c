"""Shows the comparison: `python experiments/debs2024.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Shown, carry_out, make_parser
from comparisons.debs2024.declaration import Presentation, read_presentation
from comparisons.debs2024.figures import draw_figures
from comparisons.debs2024.queues import draw_queues
from comparisons.debs2024.results import Comparison, read_results
from comparisons.debs2024.table import as_markdown, effort
from comparisons.finished import Finished

ROOT = Path(__file__).parents[1]
SHOWN = Path(__file__).parent / "comparisons" / "debs2024" / "shown.yaml"
PAGE = ROOT / "docs" / "reproduction.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("debs2024", "Show the comparison of Goponenko and others (DEBS 2024).")
    parser.add_argument(
        "--shown", type=Path, metavar="FILE", default=SHOWN,
        help="another file that says what is shown, as for another log",
    )  # fmt: skip
    return carry_out(parser, arguments, _choose)


def _choose(options: argparse.Namespace) -> Shown:
    presentation = read_presentation(options.shown)

    def content(finished: Finished, drawing: Drawing) -> Content:
        return content_of(presentation, finished, drawing)

    return Shown("debs2024", ("predictor", "objective", "dispatcher"), PAGE, content)


def content_of(presentation: Presentation, finished: Finished, drawing: Drawing) -> Content:
    """Return table, effort and figures."""
    comparison = Comparison(presentation, read_results(presentation, finished))
    table = [as_markdown(comparison), effort(comparison.results)]
    return [*table, *draw_figures(comparison, drawing), *draw_queues(finished, drawing)]


if __name__ == "__main__":
    sys.exit(main())
