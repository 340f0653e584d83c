"""Reruns the comparison: `python -m experiments.debs2024 --help` says how."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.debs2024.cells import Cell, cells
from experiments.debs2024.declaration import Experiment, read_experiment
from experiments.debs2024.execution import Execution, Outcome
from experiments.debs2024.figures import draw_figures
from experiments.debs2024.page import write_page
from experiments.debs2024.results import Comparison, read_results
from experiments.debs2024.table import as_markdown, effort
from hpcsched.errors import Finding, HpcschedError, InputError
from hpcsched.results.files import write_text
from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.review import missing_inputs

ROOT = Path(__file__).parents[2]
DECLARATION = ROOT / "experiments" / "debs2024.yaml"
PAGE = ROOT / "docs" / "reproduction.md"
FORMATS = {"pdf": 300, "png": 200}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line says.

    Returns 0, 1 where a cell failed or the input is at fault, 2 for wrong usage, or 130.
    """
    try:
        options = _parse(arguments)
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    try:
        return _carry_out(options)
    except HpcschedError as error:
        _say(str(error))
        return 1
    except KeyboardInterrupt:
        _say("interrupted; started again, it goes on from here")
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m experiments.debs2024",
        description="Rerun the comparison of Goponenko and others (DEBS 2024) on KTH-SP2. Runs that"
        " are complete are kept, so that an experiment that was broken off goes on.",
    )
    parser.add_argument(
        "--only", nargs="+", metavar="LABEL", help="run these alone, and what all is compared with"
    )
    parser.add_argument(
        "--jobs", type=_positive, metavar="N", default=os.cpu_count() or 1,
        help="how many runs at a time; one for each processor if not given",
    )  # fmt: skip
    parser.add_argument(
        "--first", type=_positive, metavar="N",
        help="replay the first N jobs of the log alone, into a folder of its own",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where the runs go; runs/NAME if not given"
    )
    parser.add_argument(
        "--again", action="store_true", help="run also what is complete, as after a change of code"
    )
    parser.add_argument(
        "--declaration", type=Path, metavar="FILE", default=DECLARATION,
        help="another file that declares a comparison",
    )  # fmt: skip
    parser.add_argument(
        "--write-docs", action="store_true",
        help="run nothing; put what complete runs came to into docs/reproduction.md",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.write_docs and (options.only or options.first or options.again):
        parser.error("--write-docs is about all runs of all jobs, and starts none")
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)


def _carry_out(options: argparse.Namespace) -> int:
    experiment = read_experiment(options.declaration)
    base = read_scenario(experiment.scenario)
    missing = missing_inputs(base, "error")
    if missing:
        raise InputError(missing)
    suffix = f"-first-{options.first}" if options.first else ""
    out: Path = options.out or Path("runs") / f"{experiment.name}{suffix}"
    chosen = cells(experiment, out, options.only, options.first)
    if options.write_docs:
        return _write_docs(experiment, chosen)
    execution = Execution(again=options.again)
    failed = 0
    for number, outcome in enumerate(execution.outcomes(chosen, options.jobs), 1):
        failed += outcome.status == "failed"
        _say(_progress(outcome, number, len(chosen)))
    # Runs that `only` leaves out may be there from before.
    results, _ = read_results(cells(experiment, out, first=options.first))
    _show(Comparison(experiment, results), out)
    if failed:
        _say(f"{failed} of {len(chosen)} runs failed")
    return 1 if failed else 0


def _progress(outcome: Outcome, number: int, total: int) -> str:
    line = f"[{number}/{total}] {outcome.cell.name}: {outcome.status}"
    if outcome.status == "failed":
        return f"{line}: {outcome.message}"
    results, _ = read_results([outcome.cell])
    (result,) = results.values()
    if outcome.status == "done":
        line += f" in {outcome.seconds:.1f} s"
    if result.decision_time is not None:
        line += f", {1000 * result.decision_time:.3g} ms a decision"
    return line


def _show(comparison: Comparison, out: Path) -> None:
    table = f"{as_markdown(comparison)}\n\n{effort(comparison.results)}\n"
    print(table, end="")
    write_text(out / "table.md", table)
    drawn = draw_figures(comparison, out / "figures", FORMATS)
    _say(f"table in {out / 'table.md'}, {len(drawn)} files of figures in {out / 'figures'}")


def _write_docs(experiment: Experiment, chosen: Sequence[Cell]) -> int:
    results, missing = read_results(chosen)
    without = [half for half in experiment.halves if (half, experiment.baseline) not in results]
    if without:
        message = f"there is no complete run of {experiment.baseline} in: {', '.join(without)}"
        raise InputError(Finding("no-baseline", message))
    for path in write_page(Comparison(experiment, results), PAGE):
        _say(f"wrote {path}")
    if missing:
        _say(f"not there, and shown so: {', '.join(missing)}")
    return 0


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
