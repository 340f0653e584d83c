"""The objective: what a scenario wants to be small."""

from typing import Protocol

from hpcsched.metrics.metric_tables import Table


class Objective(Protocol):
    """A quantity over jobs that dispatchers may try to make small and that every run reports."""

    def measure(self, jobs: Table) -> float | None:
        """Return the exact value over the completed jobs of a run; None if there are none."""
