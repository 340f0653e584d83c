"""The protocol of a metric."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from hpcsched.metrics.tables import DownAmounts, Table


@dataclass(frozen=True, slots=True)
class RunTables:
    """A finished run, as metrics see it.

    `jobs` holds the jobs that ran, `rounds` the dispatching rounds; `capacity` is the whole
    system's, per resource type, and `down` what of it is out of service, and when. `known` has
    figures by resource type that several metrics are made of, once they have been worked out.
    """

    jobs: Table
    rounds: Table
    capacity: dict[str, int]
    down: Mapping[str, DownAmounts] = field(default_factory=dict)
    known: dict[str, dict[str, float]] = field(default_factory=dict, compare=False, repr=False)


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
