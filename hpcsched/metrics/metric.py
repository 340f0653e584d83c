"""Metrics: their protocol, and the tables that they are measured on."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]


class DownAmounts(NamedTuple):
    """Amounts of one resource type that are out of service.

    Attributes
    ----------
    start
        Begin of each interval, in seconds, `[K]`.
    end
        End of each interval, in seconds, `[K]`.
    amount
        Amount out of service in each interval, `[K]`.
    """

    start: Column
    end: Column
    amount: Column

    def within(self, begin: int, end: int) -> int:
        """Return the sum of amount × seconds between two instants, exactly.

        Parameters
        ----------
        begin
            First instant, in seconds.
        end
            Last instant, in seconds.
        """
        length: Column = np.minimum(self.end, end) - np.maximum(self.start, begin)
        inside = length > 0
        # Python integers: the product of a large capacity and a long outage may pass 2⁶³.
        return int((self.amount[inside].astype(object) * length[inside]).sum())


class Table(Protocol):
    """Rows in batches, so that a metric over a long trace needs little memory."""

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch, as arrays of equal length."""


@dataclass(frozen=True, slots=True)
class RunTables:
    """Finished run as seen by metrics.

    It is the table of its jobs too: whatever is measured on jobs alone is measured on a run.

    Attributes
    ----------
    capacity
        Capacity of the whole system by resource type.
    down
        Amounts out of service by resource type, with their intervals.
    all_jobs
        Reads whole columns, by name, of all jobs that have left, also of those that did not run;
        returns an Arrow table. None where the places of jobs are not known.
    known
        Cache of figures that several metrics share.
    """

    jobs: Table
    rounds: Table
    capacity: dict[str, int]
    down: Mapping[str, DownAmounts] = field(default_factory=dict)
    all_jobs: Callable[..., Any] | None = None
    known: dict[str, dict[str, float]] = field(default_factory=dict, compare=False, repr=False)

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns of the jobs that ran, batch by batch."""
        return self.jobs.batches(*columns)


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


def whole_column(table: Table, column: str) -> npt.NDArray[Any]:
    """Return one column of all batches, for metrics that need all values at once."""
    parts = [batch for (batch,) in table.batches(column)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
