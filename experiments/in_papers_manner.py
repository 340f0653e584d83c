"""Shows tables and figures: `python experiments/in_papers_manner.py --help` says how."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from comparisons.command import Content, Drawing, Picture, Shown, carry_out, make_parser
from comparisons.finished import Finished
from comparisons.in_papers_manner.error_bars import Panel, draw_bars
from comparisons.in_papers_manner.papers import PAPERS, Bars, Paper
from comparisons.in_papers_manner.spread import ServedRuns, read_served
from comparisons.in_papers_manner.table import (
    rounds,
    run_of,
    searches,
    served_table,
    times,
)

DOCS = Path(__file__).parents[1] / "docs"


def main(arguments: Sequence[str] | None = None) -> int:
    """Show what the command line says; returns what `carry_out` does."""
    parser = make_parser(
        "in_papers_manner", "Show tables and figures of a paper, replayed in its manner."
    )
    parser.add_argument(
        "--of", choices=PAPERS, default="cp2021", help="which paper's; cp2021 if not given"
    )
    return carry_out(parser, arguments, _choose)


def _choose(options: argparse.Namespace) -> Shown:
    paper = PAPERS[options.of]
    name = f"{options.of}-in-papers-manner"
    axes = ("system", "dispatcher", "predictor")
    return Shown(name, axes, DOCS / paper.page, partial(content_of, paper))


def content_of(paper: Paper, finished: Finished, drawing: Drawing) -> Content:
    """Return the tables of times and rounds, and each figure with its values."""
    content: list[str | Picture] = []
    for printing in paper.tables:
        content += [
            f"### {printing.title}",
            times(finished, paper, printing),
        ]
        if paper.beside_lists:
            content += [
                "Rounds that asked the solver; shares are of those with two jobs or more:",
                rounds(finished, paper, printing),
            ]
        if paper.searches:
            content += ["Rounds that asked the solver:", searches(finished, paper, printing)]
    for figure in paper.figures:
        number = figure.name.replace("-", " ").capitalize()
        served = _served(finished, figure)
        content += [f"### {number}: {figure.title}", served_table(paper, figure, served)]
        drawn = draw_bars(figure.name, figure.title, list(_panels(paper, served)), drawing)
        content += [] if drawn is None else [drawn]
    return content


def _served(finished: Finished, figure: Bars) -> ServedRuns:
    found = {}
    for dispatcher, letter in figure.bars:
        run = run_of(finished, figure.system, dispatcher, letter)
        if run is not None:
            found[dispatcher, letter] = read_served(run)
    return found


def _panels(paper: Paper, served: ServedRuns) -> Iterator[Panel]:
    by_bar = {
        f"{paper.names[dispatcher]}-{letter}": one for (dispatcher, letter), one in served.items()
    }
    yield Panel("slowdown", {bar: one.slowdown for bar, one in by_bar.items()})
    yield Panel("wait time, s", {bar: one.wait_time for bar, one in by_bar.items()})


if __name__ == "__main__":
    sys.exit(main())
