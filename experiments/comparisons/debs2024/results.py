"""What runs came to, read from their run directories, and set beside the baseline."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from comparisons.debs2024.declaration import Presentation
from comparisons.finished import Finished, seconds_of
from hpcsched.runs.directory import RunDirectory


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
    """What is to be shown, and the results that are there."""

    shown: Presentation
    results: Results

    def share(self, half: str, label: str, objective: str) -> float | None:
        """Return a run's metric of an objective in percent of the baseline's; None if not known."""
        result = self.results.get((half, label))
        if result is None:
            return None
        metric = self.shown.objectives[objective].metric
        return self._percent(half, metric, result.metrics.get(metric))

    def bound(self, half: str, label: str, objective: str) -> float | None:
        """Return the lower bound of an off-line run in percent of the baseline's value.

        None where there is no bound, or where it is one of another objective than this.
        """
        result = self.results.get((half, label))
        if result is None or self.shown.run_named(label).objective != objective:
            return None
        metric = self.shown.objectives[objective].metric
        return self._percent(half, metric, result.lower_bound)

    def _percent(self, half: str, metric: str, value: float | None) -> float | None:
        baseline = self.results.get((half, self.shown.baseline))
        base = None if baseline is None else baseline.metrics.get(metric)
        return None if value is None or not base else 100 * value / base


def read_results(shown: Presentation, finished: Finished) -> Results:
    """Return the results of the runs that are there; raises InputError where one is damaged."""
    results = {}
    for half in shown.halves:
        for run in shown.runs:
            labels = {"predictor": half, "dispatcher": run.dispatcher}
            if run.objective is not None:
                labels["objective"] = run.objective
            for found in finished.having(**labels)[:1]:
                results[half, run.label] = _result(found.run)
    return results


def _result(run: RunDirectory) -> Result:
    summary: Mapping[str, Any] = run.summary
    offline = summary.get("offline")
    return Result(
        summary["metrics"],
        None if offline else run.timing["rounds"].get("decision_time_mean"),
        offline.get("lower_bound") if offline else None,
        seconds_of(run),
    )
