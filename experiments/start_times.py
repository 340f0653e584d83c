"""Evaluates forecasts of start times: `python experiments/start_times.py --help` says how."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from math import exp, fsum, log
from pathlib import Path

from comparisons.block import find_block
from comparisons.start_times.rivals import rival_scores
from hpcsched.errors import HpcschedError
from hpcsched.report.tables.report_table import MISSING, Table
from hpcsched.runs.files import read_json, write_json
from hpcsched.studies.cell import Cell
from hpcsched.studies.forecast.forecast_evaluation import (
    AT_SUBMISSION,
    INTERVALS,
    Scores,
    chosen_jobs,
    evaluate,
    replayed_starts,
)
from hpcsched.studies.forecast.forecasting import prepare
from hpcsched.studies.study_files import read_experiment

EXPERIMENT = Path(__file__).with_suffix(".yaml")
PAGE = EXPERIMENT.parents[1] / "docs" / "start-times.md"
FIRST = 0.6
"""Share of each stretch that is learned from and not evaluated."""
JOBS, SAMPLES = 60, 100
LEARNED, MEAN = "regression", "mean wait"

OfCells = Mapping[tuple[str, str], Mapping[str, Scores]]
"""Scores by stretch and order of the queue, then by who forecasts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line says; returns 1, with one line, where something is wrong."""
    parser = argparse.ArgumentParser(
        prog="python experiments/start_times.py",
        description="Evaluate forecasts of start times on stretches of four logs, beside a learned"
        " regression and the mean wait, and show the tables. Cells that the folder has are kept.",
    )
    parser.add_argument("folder", type=Path, help="where the scores of each cell are written")
    parser.add_argument(
        "--write-docs", action="store_true", help=f"put the tables into docs/{PAGE.name}"
    )
    given = parser.parse_args(arguments)
    try:
        cells = read_experiment(EXPERIMENT).cells
        given.folder.mkdir(parents=True, exist_ok=True)
        scores = {
            (cell.labels["system"], cell.labels["dispatcher"]): scores_in(given.folder, cell)
            for cell in cells
        }
        text = "\n\n".join(tables(scores))
        if given.write_docs:
            find_block(PAGE, "start-times").fill(text)
        else:
            sys.stdout.write(f"{text}\n")
    except (HpcschedError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def scores_in(folder: Path, cell: Cell) -> Mapping[str, Scores]:
    """Return the scores of a cell, computed unless the folder has them."""
    file = folder / f"{cell.name}-{JOBS}x{SAMPLES}-{cell.address[:12]}.json"
    if not file.exists():
        found = scores_of_cell(cell)
        write_json(file, {name: one._asdict() for name, one in found.items()})
    return {name: Scores(**one) for name, one in read_json(file).items()}


def scores_of_cell(cell: Cell) -> Mapping[str, Scores]:
    """Return the scores at submission, by who forecasts."""
    prepared = prepare(cell.scenario)
    found = evaluate(prepared, jobs=JOBS, samples=SAMPLES, seed=cell.seed, first=FIRST)
    starts = replayed_starts(prepared)
    chosen = chosen_jobs(prepared, starts, jobs=JOBS, seed=cell.seed, first=FIRST)
    rivals = rival_scores(prepared.columns, starts, chosen, FIRST, cell.seed)
    return {**found.scores[AT_SUBMISSION], **rivals}


def tables(scores: OfCells) -> list[str]:
    """Return a table of all stretches together, and one of CRPS by stretch."""
    orders = dict.fromkeys(order for _, order in scores)
    rows = []
    for order in orders:
        of_order = [one for (_, own), one in scores.items() if own == order]
        for name in of_order[0]:
            own = [one[name] for one in of_order]
            jobs = sum(one.jobs for one in own)
            mean = [
                fsum(one.jobs * share for one, share in zip(own, shares, strict=True)) / jobs
                for shares in zip(*map(_shares, own), strict=True)
            ]
            skills = [_mean_skill(of_order, name, other) for other in (MEAN, LEARNED)]
            missing = 2 + len(INTERVALS) - len(mean)
            rows.append([order, name, f"{jobs}", *_percent(mean), *[MISSING] * missing, *skills])
    single = []
    for (stretch, order), of_cell in scores.items():
        own = [f"{one.crps / 60:.0f}" for one in of_cell.values()]
        skills = [_skill(of_cell, "forecast", other) for other in (MEAN, LEARNED)]
        single.append([stretch, order, *own, *_percent(of_cell["forecast"].coverage), *skills])
    names = [f"{name} [min]" for name in next(iter(scores.values()))]
    inside = [f"in {share:.0%}" for share in INTERVALS]
    ends = [*inside, "over the mean", "over regression"]
    return [
        Table(
            ["queue", "forecast by", "jobs", "within 1 min", "within 10 min", *ends], rows, words=2
        ).as_markdown(),
        Table(["stretch", "queue", *names, *ends], single, words=2).as_markdown(),
    ]


def _shares(one: Scores) -> Sequence[float]:
    return (one.within_minute, one.within_ten_minutes, *one.coverage)


def _percent(shares: Sequence[float]) -> list[str]:
    return [f"{share:.0%}" for share in shares]


def _skill(of_cell: Mapping[str, Scores], name: str, other: str) -> str:
    return f"{1 - of_cell[name].crps / of_cell[other].crps:.2f}"


def _mean_skill(of_cells: Sequence[Mapping[str, Scores]], name: str, other: str) -> str:
    """Return 1 less the geometric mean of the ratios of CRPS."""
    ratios = [log(one[name].crps / one[other].crps) for one in of_cells]
    return f"{1 - exp(fsum(ratios) / len(ratios)):.2f}"


if __name__ == "__main__":
    sys.exit(main())
