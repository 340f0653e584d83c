"""Tables that metrics are computed from."""

from collections.abc import Iterator
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
        return sum(
            # Python integers: the product of a large capacity and a long outage may pass 2⁶³.
            amount * seconds
            for amount, seconds in zip(
                self.amount[inside].tolist(), length[inside].tolist(), strict=True
            )
        )


class Table(Protocol):
    """Rows in batches, so that a metric over a long trace needs little memory."""

    def batches(self, *columns: str) -> Iterator[tuple[Column, ...]]:
        """Yield the named columns, batch by batch, as arrays of equal length."""


def whole_column(table: Table, column: str) -> npt.NDArray[Any]:
    """Return one column of all batches, for metrics that need all values at once."""
    parts = [batch for (batch,) in table.batches(column)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)
