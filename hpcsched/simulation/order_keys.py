"""Sort keys of queue orders as columns."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.rules.expected_wait import ExpectedWaitOrder
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.orders import KeyOrder, QueueOrder, WaitOver, smallest_area
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import WaitClass
from hpcsched.workload.job_batches import JobColumns

_WIDE = 62
"""Bits of the lower of the two numbers that hold a sort key."""

BY_WAIT = (ExpectedWaitOrder, WaitOver)
"""Orders by wait, in relation to a quantity of the job."""

_AREA = KeyOrder(smallest_area)


class Considered(NamedTuple):
    """Jobs as queue orders see them: like a `WaitingJob`, but a field may hold all jobs, `[B]`."""

    submit_time: Any
    predicted_run_time: Any
    demand: Any

    @property
    def area(self) -> Any:
        """Demand × predicted run time."""
        return self.demand * self.predicted_run_time


def keys_of(
    order: QueueOrder, columns: JobColumns, predicted: IntArray, system: System
) -> IntArray:
    """Return the sort keys of jobs in an order, `[B, K]`, compared column by column.

    The first key of an order by wait is the divisor of the wait; those of `multifactor` are not
    compared, see `hpcsched._core.Multifactor`.

    Parameters
    ----------
    predicted
        Predicted run times, `[B]`, in seconds.
    """
    jobs = _considered(columns, predicted, system)
    if isinstance(order, MultifactorOrder):
        return order.column_keys(columns, jobs.demand)
    if isinstance(order, KeyOrder):
        keys = halves(order, jobs)
    elif isinstance(order, ExpectedWaitOrder):
        keys = [_expected_waits(order, columns), *halves(_AREA, jobs)]
    elif isinstance(order, WaitOver):
        keys = [order.divisor(jobs), *(halves(_AREA, jobs) if order.then_area else ())]
    else:
        return np.empty((len(predicted), 0), dtype=np.int64)
    return np.stack([np.asarray(key).astype(np.int64) for key in keys], axis=1)


def _considered(columns: JobColumns, predicted: IntArray, system: System) -> Considered:
    """Return jobs as queue orders see them, in numbers that do not overflow."""
    shares = unit_demands(columns, system) or [0]
    largest = max(shares) * int(columns.units.max(initial=1)) * int(predicted.max(initial=1)) ** 2
    kind = np.int64 if largest < 1 << _WIDE else object
    demand = columns.units.astype(kind) * np.array(shares, dtype=kind)[columns.request]
    return Considered(columns.submit_time, predicted.astype(kind), demand)


def unit_demands(columns: JobColumns, system: System) -> list[int]:
    """Return the demand of a unit of each request, `[S]`."""
    return [system.demand(1, job.unit_request) for job in columns.requests]


def halves(order: KeyOrder, job: Considered) -> Sequence[Any]:
    """Return a sort key in numbers of at most 64 bits, two for each of its numbers.

    A key may be a product of more than 64 bits.
    """
    key = order.key(job)
    found: list[Any] = []
    for number in key if isinstance(key, tuple) else (key,):
        found += [number >> _WIDE, number & ((1 << _WIDE) - 1)]
    return found


def set_key(order: QueueOrder, key: IntArray, job: Considered) -> None:
    """Write the part of a job's sort key that depends on its prediction."""
    if isinstance(order, KeyOrder):
        key[:] = halves(order, job)
    elif isinstance(order, WaitOver):
        key[0] = order.divisor(job)
        if order.then_area:
            key[1:] = halves(_AREA, job)
    elif isinstance(order, ExpectedWaitOrder):
        key[1:] = halves(_AREA, job)


def _expected_waits(order: ExpectedWaitOrder, columns: JobColumns) -> IntArray:
    """Return the expected waits of jobs, `[B]`, in seconds."""
    if order.by is WaitClass.UNITS:
        return order.of_numbers(columns.units)
    return order.of_numbers(columns.details.column(order.by).fill_null(0).to_numpy())
