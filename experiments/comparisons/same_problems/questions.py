"""The problems of two replays under PCP'19, and what each dispatcher answers to all of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from comparisons.asking import ask, record, table_of
from hpcsched.studies.problems.problem_files import InstancesFile
from hpcsched.studies.problems.solving import Floats, SolvedTable

SCENARIO = Path(__file__).parents[3] / "scenarios" / "eurora-day-pcp21.yaml"

DISPATCHERS = ("pcp19", "pcp4", "pcp20", "pcp21")

PREDICTORS = {"D": "profile", "R": "actual"}
"""The predictions with which problems are recorded, by the papers' letter."""

MANNER = (
    "orders: [], spare_nodes: null, fill: false, horizon: worst_case, largest_model: 1000000,"
    " time_limits: {}, solver: schedule-or-postpone"
)
"""What dispatchers have in common: the papers' manner."""


class Answers(NamedTuple):
    """The problems of one replay, and how they were answered.

    Attributes
    ----------
    tables
        The answers by dispatcher.
    queued
        Jobs in the queue of each problem.
    pressure
        For each problem, what its queue asks for over what is free, of the resource type for which
        that is largest; inf where nothing of it is free.
    """

    tables: Mapping[str, SolvedTable]
    queued: Floats
    pressure: Floats


def ask_all(folder: Path, problems: int) -> None:
    """Record so many problems with each prediction, and have all dispatchers asked them.

    Raises FailedError where that fails.
    """
    for letter, predictor in PREDICTORS.items():
        file = _file(folder, letter)
        wanted = ("--min-queued", 2, "--limit", problems)
        values = (*_values("pcp19"), f"predictor={predictor}")
        record(SCENARIO, file, (*wanted, *(part for one in values for part in ("--set", one))))
        for dispatcher in DISPATCHERS:
            ask(file, SCENARIO, folder, f"{dispatcher}-{letter}", *_values(dispatcher))


def read_answers(folder: Path) -> Mapping[str, Answers]:
    """Return all answers by letter of the prediction.

    Raises InputError where a file is missing or damaged.
    """
    return {letter: _read(folder, letter) for letter in PREDICTORS}


def _read(folder: Path, letter: str) -> Answers:
    tables = {
        dispatcher: SolvedTable.open(table_of(folder, f"{dispatcher}-{letter}"))
        for dispatcher in DISPATCHERS
    }
    queued, pressure = [], []
    for problem in InstancesFile(_file(folder, letter)).problems():
        asked = problem.units @ problem.unit_requests
        free = problem.availability.sum(axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(asked > 0, asked / free, 0.0)
        queued.append(len(problem.queue))
        pressure.append(float(shares.max()))
    return Answers(tables, np.array(queued, np.float64), np.array(pressure, np.float64))


def _file(folder: Path, letter: str) -> Path:
    return folder / f"problems-{letter}.jsonl.gz"


def _values(dispatcher: str) -> tuple[str, str]:
    return f"dispatcher={{name: {dispatcher}, {MANNER}}}", "objective=slowdown"
