"""Protocol of metrics."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpcsched.metrics.metric_tables import DownAmounts, Table


@dataclass(frozen=True, slots=True)
class RunTables:
    """Finished run as seen by metrics.

    Attributes
    ----------
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


def figure_fault(value: object) -> str | None:
    """Return why a value is no figure of a metric or an objective; None if it is one."""
    # True is a number in Python, and no figure.
    is_truth = isinstance(value, bool | np.bool_)
    if value is None or (isinstance(value, Real) and not is_truth and math.isfinite(value)):
        return None
    return f"expected a finite number, or None, found {value!r}"


class Metric(Protocol):
    """Scalar figure of a run's summary."""

    @property
    def unit(self) -> str:
        """Unit of the figure; empty for a ratio."""

    @property
    def population(self) -> str:
        """Jobs that the figure covers, in words."""

    def measure(self, run: RunTables) -> float | None:
        """Return the figure of a run.

        Parameters
        ----------
        run
            Tables of jobs and rounds, in batches of columns, and the capacity by resource type.

        Returns
        -------
        float | None
            A finite number, in `unit`; None where the population is empty. A metric that raises
            is null in the summary, and the run goes on.
        """


class ChosenMetric(NamedTuple):
    """Metric with the parameters of the scenario."""

    metric: Metric
    parameters: Mapping[str, Any]
