"""Records problems, asks both solvers, shows a table: `python -m experiments.postpone --help`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from experiments.block import find_block
from hpcsched.cli import main as hpcsched
from hpcsched.errors import HpcschedError
from hpcsched.instances.comparison import Comparison, compare
from hpcsched.instances.pairing import Floats, Pairing
from hpcsched.instances.table import SolvedTable

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "backends.md"
SCENARIO = ROOT / "scenarios" / "eurora-day-easy.yaml"
PROBLEMS = 200

DISPATCHERS = {
    "HCP'19": "hcp19",
    "joint-now": "joint-now",
    "PCP'21": "pcp21",
}
"""What is shown of a dispatcher, and how a scenario names it."""

SOLVERS = {"ortools": 0.05, "schedule-or-postpone": 0.01}
"""The solvers, A and B, with their budgets of a round."""

HEADER = (
    "dispatcher", "problems", "proved: A, B", "no plan: A, B", "B's objective: better, same, worse",
    "median time, ms: A, B", "median fails: A, B", "time B / A: 25 %, 50 %, 75 %",
    "fails B / A: 25 %, 50 %, 75 %", "fewer fails",
)  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns 1, with one line, where something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.postpone",
        description="Record dispatching problems, ask CP-SAT (A) and schedule-or-postpone (B) the"
        " same, and show a table.",
    )
    parser.add_argument("folder", type=Path, help="where problems and tables are written")
    parser.add_argument(
        "--problems", type=int, default=PROBLEMS, help=f"how many; {PROBLEMS} if not given"
    )
    parser.add_argument(
        "--write-docs", action="store_true", help=f"put the table into docs/{PAGE.name}"
    )
    given = parser.parse_args(arguments)
    try:
        given.folder.mkdir(parents=True, exist_ok=True)
        recorded = given.folder / "problems.jsonl.gz"
        _run("record", SCENARIO, "--min-queued", 4, "--max-queued", 60, "--every", 2,
             "--limit", given.problems, "--out", recorded, "--force")  # fmt: skip
        lines = [_line(HEADER), _line(["---"] * len(HEADER))]
        for name, dispatcher in DISPATCHERS.items():
            pairing = _asked(given.folder, recorded, dispatcher)
            lines.append(_line([name, *_cells(pairing, compare(pairing))]))
        table = "\n".join(lines)
        if given.write_docs:
            find_block(PAGE, "postpone").fill(table)
    except (HpcschedError, OSError, _FailedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{table}\n")
    return 0


class _FailedError(Exception):
    """A command came to no good end; it has said why."""


def _run(*arguments: object) -> None:
    """Run a command of `hpcsched instances`."""
    if hpcsched(["instances", *map(str, arguments)]):
        raise _FailedError(f"hpcsched instances {arguments[0]} failed")


def _asked(folder: Path, recorded: Path, dispatcher: str) -> Pairing:
    """Have both solvers asked by a dispatcher, in the papers' manner: without list plans."""
    tables = []
    for solver, budget in SOLVERS.items():
        name = f"{dispatcher}-{solver}"
        chosen = (
            f"dispatcher={{name: {dispatcher}, solver: {solver}, budget: {budget}, orders: [],"
            " spare_nodes: null, largest_model: 1000000}"
        )
        _run("solve", recorded, SCENARIO, "--out", folder, "--force",
             "--set", chosen, "--set", f"name={name}")  # fmt: skip
        tables.append(SolvedTable.open(folder / f"{name}.parquet"))
    return Pairing(*tables)


class _Sides(NamedTuple):
    """A column of A and B, over the problems of which both asked their solvers."""

    a: Floats
    b: Floats


def _cells(pairing: Pairing, comparison: Comparison) -> Iterator[str]:
    asked = pairing.asked[0] & pairing.asked[1]

    def both(column: str) -> _Sides:
        a, b = pairing.both(column)
        return _Sides(a[asked], b[asked])

    statuses = [side.columns["solver_status"][asked] for side in (pairing.a, pairing.b)]
    found = comparison.objectives
    times, fails = both("decision_time"), both("fails")
    counted = np.isfinite(fails.a) & np.isfinite(fails.b)
    fails = _Sides(fails.a[counted], fails.b[counted])
    yield f"{int(asked.sum())}"
    yield ", ".join(str(int((status == "optimal").sum())) for status in statuses)
    yield ", ".join(str(unsolved) for unsolved in found.not_solved)
    yield f"{found.better}, {found.same}, {found.worse}"
    yield ", ".join(f"{1000 * np.median(side):.1f}" for side in times)
    yield ", ".join(f"{np.median(side):.0f}" if len(side) else "–" for side in fails)
    yield _quartiles(times.b / times.a)
    known = fails.a > 0
    yield _quartiles(fails.b[known] / fails.a[known])
    yield f"{int((fails.b < fails.a).sum())} of {len(fails.a)}"


def _quartiles(ratios: Floats) -> str:
    if not len(ratios):
        return "–"
    return ", ".join(f"{value:.2g}" for value in np.quantile(ratios, (0.25, 0.5, 0.75)))


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    sys.exit(main())
