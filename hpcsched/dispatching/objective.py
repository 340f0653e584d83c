"""Protocol of an objective: the quantity that a scenario minimises."""

from typing import Protocol

from hpcsched.metrics.metric_tables import Table


class Objective(Protocol):
    """Protocol of a quantity over jobs that dispatchers may minimise and that every run reports."""

    def measure(self, jobs: Table) -> float | None:
        """Return the exact value over the completed jobs of a run; None without any."""
