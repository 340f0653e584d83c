"""Protocol of the tables that metrics are computed over."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

Column = npt.NDArray[np.int64]


class DownAmounts(NamedTuple):
    """Amounts of one resource type that are out of service, `[K]`.

    Attributes
    ----------
    start, end
        Seconds.
    amount
        Amount in between.
    """

    start: Column
    end: Column
    amount: Column

    def within(self, begin: int, end: int) -> int:
        """Return amount × seconds between two instants, exactly."""
        length: Column = np.minimum(self.end, end) - np.maximum(self.start, begin)
        inside = length > 0
        return sum(
            amount * seconds
            for amount, seconds in zip(
                self.amount[inside].tolist(), length[inside].tolist(), strict=True
            )
        )


class Table(Protocol):
    """Rows in batches, so that a metric over a long trace needs little memory."""

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield, batch by batch, the named columns as arrays of equal length."""


def whole_column(table: Table, column: str) -> npt.NDArray[Any]:
    """Return one column of all batches, for metrics that need all values at once."""
    parts = [batch for (batch,) in table.batches(column)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
