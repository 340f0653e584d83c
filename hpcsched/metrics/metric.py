"""Protocol of metrics."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hpcsched.metrics.metric_tables import DownAmounts, Table


@dataclass(frozen=True, slots=True)
class RunTables:
    """Finished run as seen by metrics.

    Attributes
    ----------
    jobs
        Jobs that ran.
    rounds
        Dispatching rounds.
    capacity
        Capacity of the whole system by resource type.
    down
        Amounts out of service by resource type, with their intervals.
    known
        Cache of figures by resource type that several metrics share.
    """

    jobs: Table
    rounds: Table
    capacity: dict[str, int]
    down: Mapping[str, DownAmounts] = field(default_factory=dict)
    known: dict[str, dict[str, float]] = field(default_factory=dict, compare=False, repr=False)


class Metric(Protocol):
    """Scalar figure of a run's summary."""

    @property
    def unit(self) -> str:
        """Unit of the figure; empty for a ratio."""

    @property
    def population(self) -> str:
        """Jobs that the figure covers, in words."""

    def measure(self, run: RunTables) -> float | None:
        """Return the figure; None where the population is empty."""
