"""The protocol of a metric."""

from dataclasses import dataclass
from typing import Protocol

from hpcsched.metrics.tables import Table


@dataclass(frozen=True, slots=True)
class RunTables:
    """A finished run, as metrics see it.

    `jobs` holds the jobs that ran, `rounds` the dispatching rounds; `capacity` is the whole
    system's, per resource type.
    """

    jobs: Table
    rounds: Table
    capacity: dict[str, int]


class Metric(Protocol):
    """One figure of a summary."""

    @property
    def unit(self) -> str:
        """The unit of the figure; empty for a ratio."""

    @property
    def population(self) -> str:
        """Which jobs the figure is over."""

    def measure(self, run: RunTables) -> float | None:
        """Return the figure; None where the population is empty."""
