"""Reruns the comparison: `python -m experiments.predictors --help` says how."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from experiments.cell import Cell
from experiments.command import carry_out, check_inputs, folder_of, parse, run_cells, say
from experiments.declaring import read_declaration
from experiments.predictors.boxes import draw_boxes
from experiments.predictors.declaration import Comparison, cells
from experiments.predictors.distributions import Outcome, read_outcomes
from experiments.predictors.page import write_page
from experiments.predictors.table import as_markdown
from hpcsched.results.files import write_text

ROOT = Path(__file__).parents[2]
DECLARATION = ROOT / "experiments" / "predictors.yaml"
PAGE = ROOT / "docs" / "predictors.md"
FORMATS = {"pdf": 300, "png": 200}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; returns what `carry_out` does, and 1 where a cell failed."""
    return carry_out(lambda: _parse(arguments), _carry_out)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    return parse(
        arguments,
        "predictors",
        "Replay two logs under every dispatcher with every predictor.",
        only="these traces, dispatchers or predictors alone",
        declaration=DECLARATION,
        page="docs/predictors.md",
    )


def _carry_out(options: argparse.Namespace) -> int:
    comparison = read_declaration(options.declaration, Comparison)
    check_inputs([trace.scenario for trace in comparison.traces.values()])
    out = folder_of(options, comparison.name)
    if options.write_docs:
        return _write_docs(comparison, out)
    chosen = cells(comparison, out, options.only, options.first)
    failed = run_cells(chosen, options)
    # Runs that `only` leaves out may be there from before.
    outcomes, _ = _outcomes(cells(comparison, out, first=options.first))
    _show(comparison, outcomes, out)
    if failed:
        say(f"{failed} of {len(chosen)} runs failed")
    return 1 if failed else 0


def _write_docs(comparison: Comparison, out: Path) -> int:
    outcomes, absent = _outcomes(cells(comparison, out))
    for path in write_page(comparison, outcomes, PAGE):
        say(f"wrote {path}")
    if absent:
        say(f"not there, and shown so: {', '.join(absent)}")
    return 0


def _outcomes(chosen: Sequence[Cell]) -> tuple[Mapping[str, Mapping[str, Outcome]], list[str]]:
    """Return the outcomes of cells by trace and label, and the names of those that are not run."""
    found, absent = {}, []
    for trace in dict.fromkeys(cell.group for cell in chosen):
        found[trace], missing = read_outcomes([cell for cell in chosen if cell.group == trace])
        absent += missing
    return found, absent


def _show(comparison: Comparison, outcomes: Mapping[str, Mapping[str, Outcome]], out: Path) -> None:
    tables = "\n\n".join(
        f"### {trace}\n\n{as_markdown(comparison, found)}" for trace, found in outcomes.items()
    )
    print(tables)
    write_text(out / "tables.md", f"{tables}\n")
    for trace, found in outcomes.items():
        draw_boxes(comparison, trace, found, out / "figures", FORMATS)
    say(f"tables in {out / 'tables.md'}, pictures in {out / 'figures'}")


if __name__ == "__main__":
    sys.exit(main())
