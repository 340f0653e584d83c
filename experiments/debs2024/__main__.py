"""Reruns the comparison: `python -m experiments.debs2024 --help` says how."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.cell import Cell
from experiments.command import carry_out, check_inputs, folder_of, parse, run_cells, say
from experiments.debs2024.cells import cells
from experiments.debs2024.declaration import Experiment, read_experiment
from experiments.debs2024.figures import draw_figures
from experiments.debs2024.page import write_page
from experiments.debs2024.results import Comparison, read_results
from experiments.debs2024.table import as_markdown, effort
from experiments.execution import Outcome
from hpcsched.errors import Finding, InputError
from hpcsched.results.files import write_text

ROOT = Path(__file__).parents[2]
DECLARATION = ROOT / "experiments" / "debs2024.yaml"
PAGE = ROOT / "docs" / "reproduction.md"
FORMATS = {"pdf": 300, "png": 200}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says; returns what `carry_out` does, and 1 where a cell failed."""
    return carry_out(lambda: _parse(arguments), _carry_out)


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    return parse(
        arguments,
        "debs2024",
        "Rerun the comparison of Goponenko and others (DEBS 2024) on KTH-SP2.",
        only="run these alone, and what all is compared with",
        declaration=DECLARATION,
        page="docs/reproduction.md",
    )


def _carry_out(options: argparse.Namespace) -> int:
    experiment = read_experiment(options.declaration)
    check_inputs([experiment.scenario])
    out = folder_of(options, experiment.name)
    chosen = cells(experiment, out, options.only, options.first)
    if options.write_docs:
        return _write_docs(experiment, chosen)
    failed = run_cells(chosen, options, _decision_time)
    # Runs that `only` leaves out may be there from before.
    results, _ = read_results(cells(experiment, out, first=options.first))
    _show(Comparison(experiment, results), out)
    if failed:
        say(f"{failed} of {len(chosen)} runs failed")
    return 1 if failed else 0


def _decision_time(outcome: Outcome) -> str:
    results, _ = read_results([outcome.cell])
    (result,) = results.values()
    time = result.decision_time
    return "" if time is None else f", {1000 * time:.3g} ms a decision"


def _show(comparison: Comparison, out: Path) -> None:
    table = f"{as_markdown(comparison)}\n\n{effort(comparison.results)}\n"
    print(table, end="")
    write_text(out / "table.md", table)
    drawn = draw_figures(comparison, out / "figures", FORMATS)
    say(f"table in {out / 'table.md'}, {len(drawn)} files of figures in {out / 'figures'}")


def _write_docs(experiment: Experiment, chosen: Sequence[Cell]) -> int:
    results, missing = read_results(chosen)
    without = [half for half in experiment.halves if (half, experiment.baseline) not in results]
    if without:
        message = f"there is no complete run of {experiment.baseline} in: {', '.join(without)}"
        raise InputError(Finding("no-baseline", message))
    for path in write_page(Comparison(experiment, results), PAGE):
        say(f"wrote {path}")
    if missing:
        say(f"not there, and shown so: {', '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
