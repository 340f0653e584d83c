"""Records problems, asks both solvers, shows a table: `python experiments/postpone.py --help`."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from comparisons.asking import FailedError, ask, record
from comparisons.block import find_block
from hpcsched.errors import HpcschedError
from hpcsched.report.tables.report_table import Table
from hpcsched.studies.problems.solving import Floats, Pairing, objectives_of

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "backends.md"
SCENARIO = ROOT / "scenarios" / "eurora-day-easy.yaml"
PROBLEMS = 200

DISPATCHERS = {
    "HCP'19": "name: hcp19",
    "joint-now": "name: joint-now",
    "PCP'19": "name: pcp19",
    "PCP'20": "name: pcp20",
    "PCP'21": "name: pcp21",
    "PCP'21s": "name: pcp21, symmetric: true",
}
"""What is shown of a dispatcher, and what a scenario has of it."""

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
        prog="python experiments/postpone.py",
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
        wanted = ("--min-queued", 4, "--max-queued", 60, "--every", 2, "--limit", given.problems)
        record(SCENARIO, recorded, wanted)
        rows = []
        for name, dispatcher in DISPATCHERS.items():
            pairing = _asked(given.folder, recorded, name.replace("'", ""), dispatcher)
            rows.append([name, *_cells(pairing)])
        table = Table(HEADER, rows, words=len(HEADER)).as_markdown()
        if given.write_docs:
            find_block(PAGE, "postpone").fill(table)
    except (HpcschedError, OSError, FailedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{table}\n")
    return 0


def _asked(folder: Path, recorded: Path, shown: str, dispatcher: str) -> Pairing:
    """Have both solvers asked by a dispatcher, in the papers' manner: without list plans."""
    tables = []
    for solver, budget in SOLVERS.items():
        name = f"{shown}-{solver}"
        chosen = (
            f"dispatcher={{{dispatcher}, solver: {solver}, budget: {budget}, orders: [],"
            " spare_nodes: null, largest_model: 1000000}"
        )
        tables.append(ask(recorded, SCENARIO, folder, name, chosen))
    return Pairing(*tables)


class _Sides(NamedTuple):
    """A column of A and B, over the problems of which both asked their solvers."""

    a: Floats
    b: Floats


def _cells(pairing: Pairing) -> Iterator[str]:
    asked = pairing.asked[0] & pairing.asked[1]

    def both(column: str) -> _Sides:
        a, b = pairing.both(column)
        return _Sides(a[asked], b[asked])

    statuses = [side.columns["solver_status"][asked] for side in (pairing.a, pairing.b)]
    found = objectives_of(pairing)
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


if __name__ == "__main__":
    sys.exit(main())
