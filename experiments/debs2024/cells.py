"""The cells of a comparison: one run each, with its scenario and its run directory."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.debs2024.declaration import Experiment, Run
from hpcsched.errors import Finding, InputError
from hpcsched.results.directory import RunDirectory
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml


@dataclass(frozen=True, slots=True)
class Cell:
    """One run: its half and label, the scenario file, what is put into it, its run directory."""

    half: str
    label: str
    scenario: Path
    overrides: tuple[str, ...]
    folder: Path

    @property
    def name(self) -> str:
        """How it is called where it is reported."""
        return f"{self.half}/{self.label}"

    def load(self) -> Scenario:
        """Return its scenario; raises InputError with all that is wrong with it."""
        return load_scenario(self.scenario, self.overrides)


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


def finished(cell: Cell, scenario: Scenario) -> RunDirectory | None:
    """Return a cell's run if it is complete and is of just this scenario, else None."""
    try:
        run = RunDirectory.open(cell.folder)
        stored = run.scenario_path.read_text(encoding="utf-8")
    except (InputError, OSError, UnicodeDecodeError):
        return None
    return None if run.partial or stored != resolved_yaml(scenario) else run
