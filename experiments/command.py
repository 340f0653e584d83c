"""The command line that comparisons share."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from experiments.cell import Cell
from experiments.execution import Execution, Outcome
from hpcsched.errors import HpcschedError, InputError
from hpcsched.scenario.loading import read_scenario
from hpcsched.scenario.review import missing_inputs


def parse(
    arguments: Sequence[str] | None,
    name: str,
    description: str,
    *,
    only: str,
    declaration: Path,
    page: str,
) -> argparse.Namespace:
    """Return what a command line says; raises SystemExit for wrong usage, or where help was asked.

    `only` says what its labels choose, `page` which page `--write-docs` writes.
    """
    parser = argparse.ArgumentParser(
        prog=f"python -m experiments.{name}",
        description=f"{description} Runs that are complete are kept, so that an experiment that was"
        " broken off goes on.",
    )
    parser.add_argument("--only", nargs="+", metavar="LABEL", help=only)
    parser.add_argument(
        "--jobs", type=_positive, metavar="N", default=os.cpu_count() or 1,
        help="how many runs at a time; one for each processor if not given",
    )  # fmt: skip
    parser.add_argument(
        "--first", type=_positive, metavar="N",
        help="replay the first N jobs of a log alone, into a folder of its own",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="where the runs go; runs/NAME if not given"
    )
    parser.add_argument(
        "--again", action="store_true", help="run also what is complete, as after a change of code"
    )
    parser.add_argument(
        "--declaration", type=Path, metavar="FILE", default=declaration,
        help="another file that declares a comparison",
    )  # fmt: skip
    parser.add_argument(
        "--write-docs", action="store_true",
        help=f"run nothing; put what complete runs came to into {page}",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    if options.write_docs and (options.only or options.first or options.again):
        parser.error("--write-docs is about all runs of all jobs, and starts none")
    return options


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number from 1 on, found {text!r}")
    return int(text)


def carry_out(
    parse_options: Callable[[], argparse.Namespace], task: Callable[[argparse.Namespace], int]
) -> int:
    """Do what a command line says.

    Returns what the task does, 1 where the input is at fault, 2 for wrong usage, or 130.
    """
    try:
        options = parse_options()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else 0
    try:
        return task(options)
    except HpcschedError as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        say("interrupted; started again, it goes on from here")
        return 130


def folder_of(options: argparse.Namespace, name: str) -> Path:
    """Return where the runs of a comparison go."""
    suffix = f"-first-{options.first}" if options.first else ""
    return options.out or Path("runs") / f"{name}{suffix}"


def check_inputs(scenarios: Sequence[str | Path]) -> None:
    """Raise InputError where files that scenarios read are not there."""
    missing = [
        finding
        for scenario in scenarios
        for finding in missing_inputs(read_scenario(scenario), "error")
    ]
    if missing:
        raise InputError(missing)


def run_cells(
    cells: Sequence[Cell],
    options: argparse.Namespace,
    more: Callable[[Outcome], str] = lambda _: "",
) -> int:
    """Run cells and say what becomes of each; returns how many failed.

    `more` is what else to say of one that did not fail.
    """
    failed = 0
    execution = Execution(again=options.again)
    for number, outcome in enumerate(execution.outcomes(cells, options.jobs), 1):
        line = f"[{number}/{len(cells)}] {outcome.cell.name}: {outcome.status}"
        if outcome.status == "failed":
            failed += 1
            line += f": {outcome.message}"
        else:
            line += f" in {outcome.seconds:.1f} s" if outcome.status == "done" else ""
            line += more(outcome)
        say(line)
    return failed


def say(line: str) -> None:
    """Write a line to standard error at once."""
    print(line, file=sys.stderr, flush=True)
