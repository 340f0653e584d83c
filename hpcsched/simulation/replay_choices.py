"""Choices of the core for the parts of a simulation."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import Allocator, Choices, Correction, OrderKind
from hpcsched.dispatching.rules.core_calls import ALLOCATORS, scarce_resource_mask
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.orders import (
    ArrivalOrder,
    ExpectedWaitOrder,
    KeyOrder,
    QueueOrder,
    WaitOver,
    smallest_area,
)
from hpcsched.prediction.predictor import Doubling, OneSecond, ToRequestedTime
from hpcsched.simulation.observer import Observer, listeners
from hpcsched.simulation.parts import Parts
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


KNOWN_CORRECTIONS = {
    OneSecond: Correction.ONE_SECOND,
    Doubling: Correction.DOUBLING,
    ToRequestedTime: Correction.TO_REQUESTED_TIME,
}


def obstacles(parts: Parts) -> list[str]:
    """Return the parts of a simulation that need Python at each event, in words.

    Empty if none does. Observers are not looked at; see `needs_reasons`.
    """
    dispatcher = parts.dispatcher
    if not isinstance(dispatcher, CoreRule):
        return [f"the dispatcher {parts.dispatcher_name}"]
    found = []
    if type(dispatcher.allocator) not in ALLOCATORS:
        found.append(f"the allocator {type(dispatcher.allocator).__name__}")
    for order in orders_of(dispatcher):
        if type(order) not in (ArrivalOrder, KeyOrder, *BY_WAIT, MultifactorOrder):
            found.append(f"the queue order {type(order).__name__}")
    return found


def needs_reasons(observer: Observer) -> bool:
    """Return True if an observer wants reasons, which compiled replays do not give."""
    return bool(listeners((observer,), ()).explained)


def orders_of(rule: CoreRule) -> tuple[QueueOrder, QueueOrder]:
    """Return the order of a queue, and the order behind the head job."""
    return rule.order, rule.backfill_order or ArrivalOrder()


def choices_of(parts: Parts, *, places: bool) -> Choices:
    """Return the choices of a replay; with `places` it records the nodes of jobs."""
    dispatcher = parts.dispatcher
    assert isinstance(dispatcher, CoreRule)
    order, behind = orders_of(dispatcher)
    return Choices(
        dispatcher.rule,
        allocator=ALLOCATORS[type(dispatcher.allocator)],
        correction=KNOWN_CORRECTIONS.get(type(parts.correction), Correction.ASKED_FOR),
        writes_places=places,
        order=_kind(order),
        behind_order=_kind(behind),
        scarce=scarce_resource_mask(parts.system, dispatcher.allocator),
        **dispatcher.options,
    )


def _kind(order: QueueOrder) -> OrderKind:
    if type(order) is MultifactorOrder:
        return OrderKind.BY_PRIORITY
    return OrderKind.BY_WAIT if type(order) in BY_WAIT else OrderKind.BY_KEYS


def counts_slots(parts: Parts, choices: Choices) -> bool:
    """Return True if all units are alike and take the lowest slots, so that counting is enough."""
    # Which slots are taken decides on nothing, so that other allocators may look at nodes.
    counts = parts.uniform_request is not None and choices.allocator == Allocator.FIRST_FIT
    return counts and not parts.outages.all and not parts.system.shared_resources
