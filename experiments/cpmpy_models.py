"""Shows tables and figures: `python experiments/cpmpy_models.py --help` says how."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from comparisons.command import Content, Drawing, Picture, Shown, carry_out, make_parser
from comparisons.cpmpy_models.table import MODELS, SOLVERS, models_table, run_of
from comparisons.finished import Finished
from comparisons.in_papers_manner.error_bars import Panel, draw_bars
from comparisons.in_papers_manner.spread import read_served

PAGE = Path(__file__).parents[1] / "docs" / "cpmpy-models.md"
AXES = ("dispatcher", "dispatcher.solver", "system")
LOGS = {
    "eurora-log": ("Eurora's log", "figure-5"),
    "kit-log": ("ForHLR II's log", "figure-10"),
}
"""The logs and the figures of CP 2021 with slowdowns and wait times, by log."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser("cpmpy_models", "Show the papers' CPMpy models on three solvers.")
    return carry_out(parser, arguments, _choose)


def _choose(_: argparse.Namespace) -> Shown:
    return Shown("cpmpy_models", AXES, PAGE, content_of)


def content_of(finished: Finished, drawing: Drawing) -> Content:
    """Return a table of each log, and its figure."""
    content: list[str | Picture] = []
    for system in finished.axes["system"]:
        log, figure = LOGS[system]
        content += [f"### On {log}", models_table(finished, system)]
        drawn = draw_bars(figure, log, list(_panels(finished, system)), drawing)
        content += [] if drawn is None else [drawn]
    return content


def _panels(finished: Finished, system: str) -> Iterator[Panel]:
    served = {
        f"{name}-{solver}": read_served(run)
        for solver in SOLVERS
        for model, name in MODELS.items()
        if (run := run_of(finished, system, model, solver)) is not None
    }
    yield Panel("slowdown", {bar: one.slowdown for bar, one in served.items()})
    yield Panel("wait time, s", {bar: one.wait_time for bar, one in served.items()})


if __name__ == "__main__":
    sys.exit(main())
