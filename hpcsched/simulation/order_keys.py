"""The numbers by which queue orders consider jobs, as columns."""

from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.heuristic.orders import KeyOrder, QueueOrder
from hpcsched.system.system import IntArray, System
from hpcsched.workload.columns import JobColumns

_WIDE = 62
"""Bits of the lower of two numbers that a key of an order is divided into."""


class _Considered(NamedTuple):
    """Jobs as queue orders see them: like a `WaitingJob`, but each field has all jobs, `[B]`."""

    submit_time: IntArray
    predicted_run_time: IntArray
    demand: IntArray

    @property
    def area(self) -> IntArray:
        """Demand × predicted run time."""
        return self.demand * self.predicted_run_time


def keys_of(
    order: QueueOrder, columns: JobColumns, predicted: IntArray, system: System
) -> IntArray:
    """Return by which numbers, compared one after the other, an order considers jobs, `[B, K]`.

    What is sorted by may be a product that needs more than 64 bits, so each number is two.
    """
    if not isinstance(order, KeyOrder):
        return np.empty((len(predicted), 0), dtype=np.int64)
    shares = [system.demand(1, job.unit_request) for job in columns.requests] or [0]
    largest = max(shares) * int(columns.units.max(initial=1)) * int(predicted.max(initial=1)) ** 2
    kind = np.int64 if largest < 1 << _WIDE else object
    demand = columns.units.astype(kind) * np.array(shares, dtype=kind)[columns.request]
    key = order.key(_Considered(columns.submit_time, predicted.astype(kind), demand))
    halves = []
    for number in key if isinstance(key, tuple) else (key,):
        halves += [number >> _WIDE, number & ((1 << _WIDE) - 1)]
    return np.ascontiguousarray(np.stack(halves, axis=1).astype(np.int64))
