"""Shows the figures: `python experiments/mod2017.py --help` says how."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from comparisons.boxes import Panel, draw_panels
from comparisons.command import Content, Drawing, Picture, Shown, carry_out, make_parser
from comparisons.distributions import CLASSES, Outcome, read_outcomes
from comparisons.finished import Finished
from comparisons.outcome_tables import QUEUES, SLOWDOWNS, as_markdown

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "mod2017.md"

NAMES = {"eurora-like": "mod2017", "eurora": "mod2017-eurora"}
"""Names of the blocks of the page, by log."""

Outcomes = Mapping[tuple[str, str], Outcome]
"""Outcomes by dispatcher and predictor."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("mod2017", "Show what predictions are worth to five dispatchers.")
    parser.add_argument(
        "--of", choices=NAMES, default="eurora-like",
        help="which log's: of the synthetic workload, if not given, or the real log",
    )  # fmt: skip
    return carry_out(parser, arguments, _choose)


def _choose(options: argparse.Namespace) -> Shown:
    axes = ("dispatcher", "predictor")
    return Shown(NAMES[options.of], axes, PAGE, content_of, vectors=True)


def content_of(finished: Finished, drawing: Drawing) -> Content:
    """Return the tables, how many jobs are in the pictures, and the figures."""
    dispatchers, predictors = finished.axes["dispatcher"], finished.axes["predictor"]
    outcomes = read_outcomes(
        {(one.labels["dispatcher"], one.labels["predictor"]): one.run for one in finished.runs}
    )
    content: list[str | Picture] = [as_markdown(outcomes, dispatchers, predictors)]
    if outcomes:
        content.append(_sizes(outcomes))
    for name, panels in figures(outcomes).items():
        drawn = draw_panels(name, panels, dispatchers, predictors, drawing)
        content += [] if drawn is None else [drawn]
    return content


def figures(outcomes: Outcomes) -> Mapping[str, Sequence[Panel]]:
    """Return the panels of each figure, by the paper's number of it."""
    slowdowns = {key: one.slowdowns for key, one in outcomes.items()}
    queues = {key: one.queue for key, one in outcomes.items()}
    classes = [
        Panel(
            f"{name} jobs",
            "slowdown",
            {key: one.by_class[name] for key, one in outcomes.items() if name in one.by_class},
        )
        for name in CLASSES
    ]
    return {
        "figure-3": [Panel("all jobs", SLOWDOWNS, slowdowns)],
        "figure-4": classes,
        "figure-5": [Panel("queue", QUEUES, queues)],
    }


def _sizes(outcomes: Outcomes) -> str:
    sizes = next(iter(outcomes.values())).sizes
    parts = ", ".join(f"{count:,} {name}" for name, count in sizes.items())
    return f"Jobs that wait in some run: {sum(sizes.values()):,} ({parts})."


if __name__ == "__main__":
    sys.exit(main())
