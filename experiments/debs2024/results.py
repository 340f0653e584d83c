"""What cells came to, read from their run directories, and set beside the baseline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from experiments.cell import Cell, finished
from experiments.debs2024.declaration import Experiment
from hpcsched.errors import HpcschedError
from hpcsched.results.directory import RunDirectory


@dataclass(frozen=True, slots=True)
class Result:
    """What a run came to: its metrics by name, and times in real seconds.

    `decision_time` is the mean over rounds, None for an off-line run, whose rounds decide nothing;
    `lower_bound` is what an off-line run proved of its own objective; `seconds` is what the whole
    run took, by the clock.
    """

    metrics: Mapping[str, float | None]
    decision_time: float | None
    lower_bound: float | None
    seconds: float


Results = Mapping[tuple[str, str], Result]
"""Results by half and label."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was declared, and the results that are there."""

    experiment: Experiment
    results: Results

    def share(self, half: str, label: str, objective: str) -> float | None:
        """Return a run's metric of an objective in percent of the baseline's; None if not known."""
        result = self.results.get((half, label))
        if result is None:
            return None
        metric = self.experiment.objectives[objective].metric
        return self._percent(half, metric, result.metrics.get(metric))

    def bound(self, half: str, label: str, objective: str) -> float | None:
        """Return the lower bound of an off-line run in percent of the baseline's value.

        None where there is no bound, or where it is one of another objective than this.
        """
        result = self.results.get((half, label))
        if result is None or self.experiment.run_named(label).objective != objective:
            return None
        metric = self.experiment.objectives[objective].metric
        return self._percent(half, metric, result.lower_bound)

    def _percent(self, half: str, metric: str, value: float | None) -> float | None:
        baseline = self.results.get((half, self.experiment.baseline))
        base = None if baseline is None else baseline.metrics.get(metric)
        return None if value is None or not base else 100 * value / base


def read_results(cells: Sequence[Cell]) -> tuple[Results, list[str]]:
    """Return the results of the cells that are complete, and the names of the others."""
    results: dict[tuple[str, str], Result] = {}
    missing = []
    for cell in cells:
        try:
            run = finished(cell, cell.load())
            if run is not None:
                results[cell.group, cell.label] = _result(run)
                continue
        except HpcschedError:
            pass  # its scenario is not valid, or its summary is damaged: there is no result
        missing.append(cell.name)
    return results, missing


def _result(run: RunDirectory) -> Result:
    summary: Mapping[str, Any] = run.summary
    offline = summary.get("offline")
    began = datetime.fromisoformat(run.manifest.started)
    ended = datetime.fromisoformat(run.manifest.finished or run.manifest.started)
    return Result(
        summary["metrics"],
        None if offline else run.timing["rounds"].get("decision_time_mean"),
        offline.get("lower_bound") if offline else None,
        (ended - began).total_seconds(),
    )
