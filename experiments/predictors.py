"""Shows the comparison: `python experiments/predictors.py --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from comparisons.boxes import Panel, draw_panels
from comparisons.command import Content, Drawing, Picture, Shown, carry_out, make_parser
from comparisons.distributions import read_outcomes
from comparisons.finished import Finished
from comparisons.outcome_tables import QUEUES, SLOWDOWNS, as_markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "predictors.md"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("predictors", "Show what predictions are worth to dispatchers.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("predictors", ("dispatcher", "predictor", "system"), PAGE, content_of)


def content_of(finished: Finished, drawing: Drawing) -> Content:
    """Return tables and pictures of each trace."""
    dispatchers, predictors = finished.axes["dispatcher"], finished.axes["predictor"]
    content: list[str | Picture] = []
    for trace in finished.axes["system"]:
        outcomes = read_outcomes(
            {
                (one.labels["dispatcher"], one.labels["predictor"]): one.run
                for one in finished.having(system=trace)
            }
        )
        tables = as_markdown(outcomes, dispatchers, predictors)
        content.append(f"### {trace}\n\n{tables}")
        for name, measure, boxes in (
            ("slowdown", SLOWDOWNS, {key: one.slowdowns for key, one in outcomes.items()}),
            ("queue", QUEUES, {key: one.queue for key, one in outcomes.items()}),
        ):
            panel = Panel(trace, measure, boxes)
            drawn = draw_panels(f"{trace}-{name}", [panel], dispatchers, predictors, drawing)
            content += [] if drawn is None else [drawn]
    return content


if __name__ == "__main__":
    sys.exit(main())
