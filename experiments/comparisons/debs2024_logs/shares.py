"""What the runs on the logs came to, in percent of List-REG on the same log."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from comparisons.debs2024_logs.last_to_end import metrics_without_last
from comparisons.debs2024_logs.paper import Row
from comparisons.finished import Finished
from hpcsched.runs.directory import RunDirectory

BASELINE = "List-REG"
AS_LOGGED = "as-logged"
LOG, DELAYS = "system", "trace.transforms"
"""The axes of logs, and of what delays their jobs."""


@dataclass(frozen=True, slots=True)
class Shares:
    """The runs that are there, and the names of the metrics by objective."""

    finished: Finished
    metrics: Mapping[str, str]

    @property
    def delayed(self) -> Sequence[str]:
        """The labels of logs with delayed jobs."""
        return [label for label in self.finished.axes[DELAYS] if label != AS_LOGGED]

    def run(
        self, row: Row, log: str, half: str, delays: str = AS_LOGGED, *, baseline: bool = False
    ) -> RunDirectory | None:
        """Return the run of a row, or that of its baseline; None where it was not made."""
        dispatcher = BASELINE if baseline else row.dispatcher
        labels = {LOG: log, "predictor": half, "dispatcher": dispatcher, DELAYS: delays}
        if row.searches and not baseline:
            labels["objective"] = row.objective
        found = self.finished.having(**labels)
        return found[0].run if found else None

    def value(self, run: RunDirectory | None, objective: str) -> float | None:
        """Return the metric of an objective."""
        if run is None:
            return None
        value: float | None = run.summary["metrics"].get(self.metrics[objective])
        return value

    def share(self, row: Row, log: str, half: str, delays: str = AS_LOGGED) -> float | None:
        """Return a row's value in percent of the baseline's; None where one of them is missing."""
        of_row = self.value(self.run(row, log, half, delays), row.objective)
        base = self.run(row, log, half, delays, baseline=True)
        return _percent(of_row, self.value(base, row.objective))

    def share_without_last(self, row: Row, log: str, half: str) -> float | None:
        """Return the same over all jobs but those that end last."""
        run, base = self.run(row, log, half), self.run(row, log, half, baseline=True)
        if run is None or base is None:
            return None
        objective = row.objective
        return _percent(metrics_without_last(run)[objective], metrics_without_last(base)[objective])


def _percent(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else 100 * value / base
