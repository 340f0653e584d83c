"""Choices of the core for the parts of a simulation."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched._core import Allocator, Choices, Correction, OrderKind, State
from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import kind_in_core, scarce_in
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.orders import (
    KEYS,
    ArrivalOrder,
    ColumnKeyOrder,
    ExpectedWaitOrder,
    QueueOrder,
    WaitOver,
)
from hpcsched.errors import Finding, InputError
from hpcsched.prediction.predictor import (
    Doubling,
    OneSecond,
    PredictorDriver,
    ToRequestedTime,
    corrected_run_time,
)
from hpcsched.prediction.predictors import Actual, RequestedTime
from hpcsched.simulation.observer import Observer, listeners
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import ENDED
from hpcsched.simulation.replay_admission import ColumnChecks
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import Job, TracedJob, WaitClass
from hpcsched.workload.job_batches import JobColumns


class ReplayPredictions:
    """Predicted run times, and the sort keys of queue orders that follow from them.

    Attributes
    ----------
    asks
        True if a predictor is asked about each job at its submission.
    """

    def __init__(
        self, parts: Parts, orders: tuple[QueueOrder, QueueOrder], *, in_python: bool
    ) -> None:
        self._parts, self._orders, self._in_python = parts, orders, in_python
        self._driver = PredictorDriver(parts.predictor, parts.predictor_name)
        self.asks = type(parts.predictor) not in (RequestedTime, Actual)
        # Of the jobs that were read and have not ended yet, by their place among all that were,
        # where a predictor or a correction is to be told of them.
        self._jobs: dict[int, Job] = {}
        self._first = 0
        self._unit_demands: list[int] = []
        self._batch: tuple[JobColumns, IntArray, tuple[IntArray, IntArray]]
        # How many of the jobs that have left and are written down the predictor was told of.
        self._told = 0

    def run_times(self, columns: JobColumns) -> IntArray:
        """Return the run times of jobs in this simulation, `[B]`, in seconds."""
        if self._parts.kill_at_requested_time:
            return np.minimum(columns.run_time, columns.requested_time)
        return columns.run_time

    def known(self, columns: JobColumns) -> IntArray:
        """Return the predictions of a batch, `[B]`, in seconds; 0 where they come later."""
        if self.asks:
            return np.zeros(len(columns.job_id), dtype=np.int64)
        actual = type(self._parts.predictor) is Actual
        return np.maximum(self.run_times(columns) if actual else columns.requested_time, 1)

    def keys(self, columns: JobColumns, predicted: IntArray) -> tuple[IntArray, IntArray]:
        """Return the sort keys of a batch in both orders, `[B, K]`."""
        system = self._parts.system
        one, other = (keys_of(order, columns, predicted, system) for order in self._orders)
        return one, other

    @property
    def needs_jobs(self) -> bool:
        """True if a predictor or a correction is notified of jobs."""
        asks_corrections = type(self._parts.correction) not in KNOWN_CORRECTIONS
        return self.asks or self._in_python or asks_corrections

    def begin(self, columns: JobColumns, jobs: Sequence[TracedJob], first: int) -> None:
        """Begin the next batch of jobs; `first` have been submitted before it."""
        self._first = first
        if self.needs_jobs:
            self._jobs.update(enumerate((traced.job for traced in jobs), first))
            self._unit_demands = unit_demands(columns, self._parts.system)
        if self.asks:
            self._batch = columns, self.run_times(columns), self.keys(columns, self.known(columns))

    def predict(
        self, k: int, state: State, checks: ColumnChecks
    ) -> tuple[int, list[int], list[int]]:
        """Return the prediction of job `k` of the batch, and its sort keys in both orders."""
        self.learn(state)
        columns, run_times, all_keys = self._batch
        job = self._jobs[self._first + k]
        predicted = self._driver.predict(job, int(run_times[k]))
        checks.lasting(predicted)
        demand = job.units * self._unit_demands[columns.request[k]]
        considered = Considered(job.submit_time, predicted, demand)
        for order, keys in zip(self._orders, all_keys, strict=True):
            set_key(order, keys[k], considered)
        first, behind = (keys[k].tolist() for keys in all_keys)
        return predicted, first, behind

    def learn(self, state: State) -> None:
        """Notify the predictor of the jobs that have ended since the last call."""
        first, self._told = self._told, state.written[0]
        if not self._jobs or first == self._told:
            return
        for row in state.left_since(first).tolist():
            sequence, how, ran = row[0], row[5], row[9]
            job = self._jobs.pop(sequence)
            if self.asks and how == ENDED:
                self._driver.observe(job, ran)

    def taken(self) -> None:
        """Note that the output begins anew."""
        self._told = 0

    def correct(self, rows: IntArray, state: State) -> list[int]:
        """Return corrected ends of running jobs that have outlived their predictions."""
        names = "sequence", "start", "predicted"
        columns = (state.jobs(name, rows).tolist() for name in names)
        ends = []
        for sequence, start, predicted in zip(*columns, strict=True):
            run_time = corrected_run_time(
                self._parts.correction, self._jobs[sequence], predicted, state.now - start
            )
            ends.append(start + run_time)
        return ends


_WIDE = 62
"""Bits of the lower of the two numbers that hold a sort key."""

BY_WAIT = (ExpectedWaitOrder, WaitOver)
"""Orders by wait, in relation to a quantity of the job."""

_AREA = ColumnKeyOrder(KEYS["saf"])


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
    if isinstance(order, ColumnKeyOrder):
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


def halves(order: ColumnKeyOrder, job: Considered) -> Sequence[Any]:
    """Return a sort key in numbers of at most 64 bits, two for each of its numbers.

    A key may be a product of more than 64 bits. That of expected run times, which the core learns,
    is given for a run time of 1, with `Choices.key_powers`.
    """
    if order.powers:
        job = job._replace(predicted_run_time=job.predicted_run_time**0)
    key = order.column_key(job)
    found: list[Any] = []
    for number in key if isinstance(key, tuple) else (key,):
        found += [number >> _WIDE, number & ((1 << _WIDE) - 1)]
    return found


def set_key(order: QueueOrder, key: IntArray, job: Considered) -> None:
    """Write the part of a job's sort key that depends on its prediction."""
    if isinstance(order, ColumnKeyOrder):
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

    Empty if none does. Observers are not looked at: `obstacles_of_run` of `runs` does.
    """
    return dispatcher_obstacles(parts.dispatcher, parts.dispatcher_name)


def dispatcher_obstacles(dispatcher: Dispatcher, name: str) -> list[str]:
    """Return the parts of a dispatcher that need Python at each event; see `obstacles`."""
    if not isinstance(dispatcher, CoreRule):
        return [f"the dispatcher {name}"]
    found = list(dispatcher.needs_python)
    if kind_in_core(dispatcher.allocator) is Allocator.EXTERNAL:
        found.append(f"the allocator {type(dispatcher.allocator).__name__}")
    for order in orders_of(dispatcher):
        if type(order) not in (ArrivalOrder, ColumnKeyOrder, *BY_WAIT, MultifactorOrder):
            found.append(f"the queue order {type(order).__name__}")
    return found


def check_devices(found: Sequence[str]) -> None:
    """Raise InputError if anything is there that does not know devices, or scores of nodes.

    Parameters
    ----------
    found
        These, in words; with scores, also needs for Python at each event, as of `obstacles`.
    """
    if found:
        message = (
            "devices that are told apart need a replay, and allocators by scores one that the core"
            f" decides; found {', '.join(found)}"
        )
        raise InputError(Finding("no-devices", message, key="system"))


def changing_orders(dispatcher: Dispatcher) -> list[str]:
    """Return the queue order of a dispatcher, in words, if it changes with time."""
    if isinstance(dispatcher, CoreRule) and _kind(dispatcher.order) != OrderKind.BY_KEYS:
        return [f"the queue order {type(dispatcher.order).__name__}"]
    return []


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
        allocator=kind_in_core(dispatcher.allocator),
        correction=KNOWN_CORRECTIONS.get(type(parts.correction), Correction.ASKED_FOR),
        writes_places=places,
        order=_kind(order),
        behind_order=_kind(behind),
        key_powers=_powers(order),
        behind_key_powers=_powers(behind),
        scarce=scarce_in(parts.system, dispatcher.allocator),
        **dispatcher.options,
    )


def _powers(order: QueueOrder) -> list[int]:
    return list(order.powers) if isinstance(order, ColumnKeyOrder) else []


def _kind(order: QueueOrder) -> OrderKind:
    if type(order) is MultifactorOrder:
        return OrderKind.BY_PRIORITY
    return OrderKind.BY_WAIT if type(order) in BY_WAIT else OrderKind.BY_KEYS
