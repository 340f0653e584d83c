"""The cells of the comparison: each run in each half of the table."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

from experiments.cell import Cell
from experiments.debs2024.declaration import Experiment, Run
from hpcsched.errors import Finding, InputError


def cells(
    experiment: Experiment,
    out: Path,
    only: Collection[str] | None = None,
    first: int | None = None,
) -> list[Cell]:
    """Return the cells of a comparison, of all runs or of those whose labels are in `only`.

    The baseline is always among them, as nothing can be compared without it. `first` is how many
    jobs of the log to replay, if not all. Raises InputError where `only` names what is not there.
    """
    labels = [run.label for run in experiment.runs]
    for label in only or ():
        if label not in labels:
            there = ", ".join(labels)
            raise InputError(Finding("unknown-label", f"no run {label!r}; there are: {there}"))
    return [
        Cell(
            half,
            run.label,
            Path(experiment.scenario),
            _overrides(experiment, half, run, first),
            out / half / run.label,
        )
        for half in experiment.halves
        for run in experiment.runs
        if half in experiment.halves_of(run)
        and (only is None or run.label in only or run.label == experiment.baseline)
    ]


def _overrides(experiment: Experiment, half: str, run: Run, first: int | None) -> tuple[str, ...]:
    name = f"{experiment.name}-{half}-{run.label}".replace("+", "-plus")
    values: dict[str, Any] = {
        "name": name,
        "seed": experiment.seed,
        "predictor": experiment.halves[half].predictor,
        "dispatcher": dict(run.dispatcher),
    }
    if run.objective is not None:
        values["objective"] = dict(experiment.objectives[run.objective].objective)
    for key, value in run.simulation.items():
        values[f"simulation.{key}"] = value
    if first is not None:
        values["trace.jobs"] = first
    # JSON is YAML as well, and fits on one line.
    return tuple(f"{key}={json.dumps(value)}" for key, value in values.items())
