"""Replays jobs in compiled code, columns in and columns out, without Python in between.

`obstacles` says what of a simulation's parts needs Python at each event; where there is none, an
`ArrayReplay` gives the same starts, places and rounds as `hpcsched.simulation.engine`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.compiled_state import state_of
from hpcsched.dispatching.core.event_kernels import advance_by_node, advance_by_slot
from hpcsched.dispatching.core.state import (
    Batch,
    Choices,
    FloatArray,
    new_output,
    new_tables,
    no_shapes,
    with_cells,
    with_rows,
    with_shapes,
)
from hpcsched.dispatching.heuristic.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.dispatching.heuristic.list_scheduling import ListScheduler
from hpcsched.dispatching.heuristic.orders import ArrivalOrder, KeyOrder, QueueOrder
from hpcsched.dispatching.heuristic.shapes import shape_of
from hpcsched.prediction.actual import Actual
from hpcsched.prediction.corrections import Doubling, OneSecond, ToRequestedTime
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.column_checks import ColumnChecks
from hpcsched.simulation.parts import Parts
from hpcsched.system.allocation import SlotMap
from hpcsched.system.space import slots_per_node
from hpcsched.system.system import IntArray, System
from hpcsched.workload.columns import NO_JOBS, JobColumns, NeedsPythonError
from hpcsched.workload.job import Job

_ALLOCATORS = {
    FirstFit: codes.FIRST_FIT,
    BestFit: codes.BEST_FIT,
    KeepScarce: codes.KEEP_SCARCE,
}
_CORRECTIONS = {
    OneSecond: codes.ONE_SECOND,
    Doubling: codes.DOUBLING,
    ToRequestedTime: codes.TO_REQUESTED_TIME,
}
_OPTIONS = {"strict": codes.STRICT, "greedy": codes.GREEDY, "backfill": codes.BACKFILL}

_WIDE = 62
"""Bits of the lower of two numbers that a key of an order is divided into."""


def obstacles(parts: Parts) -> list[str]:
    """Return what of a simulation's parts needs Python at each event, in words; empty if nothing.

    Observers are not looked at: who wants to hear of single events must not replay columns.
    """
    there = {
        "outages": parts.outages.all,
        "limits of partitions": parts.partitions,
        "pools": parts.system.pools,
        "dependencies between jobs": parts.dependencies,
        "dispatching that takes simulated time": parts.latency is not None,
        "a part of the dispatcher that follows jobs": parts.followers,
        "an observer that gives dispatchers data": parts.givers,
    }
    found = [what for what, needed in there.items() if needed]
    if type(parts.predictor) not in (RequestedTime, Actual):
        found.append(f"the predictor {parts.predictor_name or type(parts.predictor).__name__}")
    if type(parts.correction) not in _CORRECTIONS:
        found.append(f"the correction {type(parts.correction).__name__}")
    dispatcher = parts.dispatcher
    if type(dispatcher) not in (Easy, ListScheduler):
        return [*found, f"the dispatcher {parts.dispatcher_name}"]
    assert isinstance(dispatcher, Easy | ListScheduler)
    if type(dispatcher.allocator) not in _ALLOCATORS:
        found.append(f"the allocator {type(dispatcher.allocator).__name__}")
    for order in _orders(dispatcher):
        if type(order) not in (ArrivalOrder, KeyOrder):
            found.append(f"the queue order {type(order).__name__}")
    return found


def _orders(dispatcher: Easy | ListScheduler) -> tuple[QueueOrder, QueueOrder]:
    """Return the order of a queue, and that behind the head job."""
    behind = dispatcher.backfill_order if isinstance(dispatcher, Easy) else None
    return dispatcher.order, ArrivalOrder() if behind is None else behind


def _choices(parts: Parts, *, places: bool) -> Choices:
    dispatcher = parts.dispatcher
    assert isinstance(dispatcher, Easy | ListScheduler)
    own, rule, depth = False, codes.EASY, None
    if isinstance(dispatcher, Easy):
        own = dispatcher.backfill_order is not None
    else:
        rule, depth = _OPTIONS[dispatcher.option], dispatcher.depth
    allocator = _ALLOCATORS[type(dispatcher.allocator)]
    return Choices(
        rule,
        -1 if depth is None else min(depth, codes.NEVER),
        own,
        allocator,
        _CORRECTIONS[type(parts.correction)],
        places,
    )


def predicted_run_times(parts: Parts, columns: JobColumns) -> IntArray:
    """Return what is predicted of jobs, `[B]`, at least 1 s."""
    actual = isinstance(parts.predictor, Actual)
    return np.maximum(_run_times(parts, columns) if actual else columns.requested_time, 1)


def _run_times(parts: Parts, columns: JobColumns) -> IntArray:
    """Return how long jobs will run here, `[B]`."""
    if parts.kill_at_requested_time:
        return np.minimum(columns.run_time, columns.requested_time)
    return columns.run_time


def _counts_slots(parts: Parts, choices: Choices) -> bool:
    """Say whether all units are alike and take the lowest slots, so that only numbers matter."""
    # Which slots are taken decides on nothing, so that other allocators may look at nodes.
    return parts.uniform_request is not None and choices.allocator == codes.FIRST_FIT


class _Considered(NamedTuple):
    """Jobs as queue orders see them: like a `WaitingJob`, but each field has all jobs, `[B]`."""

    submit_time: IntArray
    predicted_run_time: IntArray
    demand: IntArray

    @property
    def area(self) -> IntArray:
        """Demand × predicted run time."""
        return self.demand * self.predicted_run_time


def _keys(order: QueueOrder, columns: JobColumns, predicted: IntArray, system: System) -> IntArray:
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


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in the order in which they did, `[J]`.

    `sequence` is a job's place among all submitted. Its places are those up to `last_place` in
    `nodes` and `node_units`, from that of the job before.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    last_place: IntArray
    nodes: IntArray
    node_units: IntArray


class HeldRounds(NamedTuple):
    """Dispatching rounds, in order, `[K]`; the fields are those of `RoundRecord`."""

    round: IntArray
    now: IntArray
    queued: IntArray
    running: IntArray
    started: IntArray
    waiting: IntArray
    waiting_amounts: IntArray
    free_amounts: IntArray
    decision_time: FloatArray


class RunningJobs(NamedTuple):
    """The jobs that run, `[J]`; `request` is the number of what their units ask for."""

    start_time: IntArray
    units: IntArray
    request: IntArray


class ArrayReplay:
    """One replay, in which nothing needs Python between events; `run` can be called once.

    A part of a replay lasts at most about `seconds` of real time, so that it can be watched and
    stopped in between: `stopped` says that it was. Without `places` nobody is told which nodes jobs
    ran on.
    """

    plainly = False
    """Whether the code is run in Python, not compiled; to be set before `run`."""

    def __init__(self, parts: Parts, seconds: float = 0.2, *, places: bool = True) -> None:
        self._parts = parts
        self._system = system = parts.system
        self._choices = choices = _choices(parts, places=places)
        assert isinstance(parts.dispatcher, Easy | ListScheduler)
        self._orders = _orders(parts.dispatcher)
        self._seconds = seconds
        slots = np.zeros(1, dtype=np.int64)
        self.by_node = not _counts_slots(parts, choices)
        if not self.by_node:
            assert parts.uniform_request is not None
            slots = np.array(SlotMap(slots_per_node(system, parts.uniform_request)).first)
        self._shapes = no_shapes(*system.capacity.shape)
        none = np.empty(0, dtype=np.int64)
        keys, behind_keys = (_keys(order, NO_JOBS, none, system).shape[1] for order in self._orders)
        self._tables = new_tables(
            system.capacity, slots, keys, behind_keys, max(int(slots[-1]), 1024)
        )
        self._tables.counters[codes.MOST_CELLS] = len(self._tables.cells)
        self._output = new_output(len(system.resource_types), 4096, 1 << 16, 4096)
        self._checks = ColumnChecks()
        self.stopped = False

    @property
    def waiting(self) -> int:
        """The number of jobs in the queue."""
        return int(self._tables.counters[codes.QUEUED])

    @property
    def running(self) -> int:
        """The number of running jobs."""
        return int(self._tables.counters[codes.RUNNING])

    @property
    def submitted(self) -> int:
        """The number of jobs that have been submitted."""
        return int(self._tables.counters[codes.SUBMITTED])

    @property
    def now(self) -> int:
        """The present instant; 0 before the first."""
        return int(self._tables.counters[codes.NOW])

    @property
    def held(self) -> IntArray:
        """The amount of each resource type that running jobs hold, `[R]`."""
        return self._tables.running_amounts

    @property
    def running_jobs(self) -> RunningJobs:
        """The jobs that run."""
        rows = self._tables.jobs[self._tables.running[: self.running]]
        return RunningJobs(*(rows[:, k] for k in (codes.START, codes.UNITS, codes.SHAPE)))

    @property
    def loop(self) -> Callable[[Any, float], int]:
        """The compiled loop of events that it runs in."""
        return advance_by_node if self.by_node else advance_by_slot

    def stop(self) -> None:
        """End the replay when the present instant is over, with jobs left in the system."""
        self.stopped = True

    def run(self, batches: Iterable[JobColumns]) -> Iterator[tuple[LeftJobs, HeldRounds]]:
        """Replay jobs; yield those that have left and the rounds that were held, part by part.

        A batch is asked for when all jobs before it have been submitted. Raises NeedsPythonError
        where the jobs are not as they must be.
        """
        loop, new_state = self.loop, state_of
        if self.plainly:
            loop, new_state = plain(loop), plain(new_state)
        batches = iter(batches)
        batch = self._next_batch(batches)
        while not (self.stopped and self._between_instants):
            fields = (*self._tables, *self._shapes, *self._choices, *batch, *self._output)
            because = loop(new_state(fields), 0.0 if self.stopped else self._seconds)
            if because == codes.NEEDS_JOBS:
                # What was written is told before the jobs, since these may turn out to be unusable.
                yield self._written()
                batch = self._next_batch(batches)
            elif because == codes.NEEDS_ROWS:
                self._tables = with_rows(self._tables, 2 * len(self._tables.jobs))
            elif because == codes.NEEDS_CELLS:
                self._make_cells()
            elif because == codes.OUTPUT_FULL:
                yield self._written()
                self._make_places()
            elif because == codes.DONE:
                if self.waiting:
                    raise NeedsPythonError("jobs that wait for ever")
                break
            else:
                yield self._written()
        yield self._written()

    @property
    def _between_instants(self) -> bool:
        return bool(self._tables.counters[codes.PHASE] == codes.NEXT_INSTANT)

    def _make_cells(self) -> None:
        counters = self._tables.counters
        used = len(self._tables.cells) - int(counters[codes.CELLS_FREE])
        needed = used + int(counters[codes.CELL_DEMAND])
        self._tables = with_cells(
            self._tables, min(max(needed, 2 * len(self._tables.cells)), self._most_cells())
        )

    def _most_cells(self) -> int:
        return int(self._tables.counters[codes.MOST_CELLS])

    def _make_places(self) -> None:
        """Make sure that the places of any one job can be written."""
        largest = self._system.node_count
        if len(self._output.nodes) < 2 * largest:
            self._output = new_output(
                len(self._system.resource_types),
                len(self._output.jobs),
                2 * largest,
                len(self._output.rounds),
            )

    def _next_batch(self, batches: Iterator[JobColumns]) -> Batch:
        """Return the next batch of jobs as the core wants it, and have it begin there."""
        columns = next(batches, None)
        last = columns is None
        if columns is None:
            columns = NO_JOBS
        self._add_shapes(columns.requests)
        tables, shapes = self._tables, self._shapes
        present = tables.waiting_amounts + tables.running_amounts
        self._checks.check(columns, shapes.on_idle.sum(axis=1), shapes.asked, present)
        predicted = predicted_run_times(self._parts, columns)
        keys, behind_keys = (
            _keys(order, columns, predicted, self._system) for order in self._orders
        )
        tables.counters[codes.NEXT] = 0
        return Batch(
            columns.job_id,
            columns.submit_time,
            _run_times(self._parts, columns),
            predicted,
            columns.requested_time,
            columns.units,
            columns.request,
            keys,
            behind_keys,
            last=last,
        )

    def _add_shapes(self, requests: Sequence[Job]) -> None:
        known = len(self._shapes.asked)
        new = [shape_of(self._system, job) for job in requests[known:]]
        if not new:
            return
        self._shapes = with_shapes(
            self._shapes,
            np.stack([shape.asked for shape in new]),
            np.stack([shape.on_idle for shape in new]),
            np.array([shape.exclusive for shape in new]),
            np.array([job.exclusive or job.scatter for job in requests[known:]]),
        )
        if self.by_node:
            # At most so many units fit on the nodes at once, whatever their shapes.
            least = np.where(self._shapes.asked > 0, self._shapes.asked, 1 << 40).min(axis=0)
            most = int((self._system.capacity // least).sum()) + self._system.node_count
            self._tables.counters[codes.MOST_CELLS] = most

    def _written(self) -> tuple[LeftJobs, HeldRounds]:
        """Return what the loop has written, and have it begin anew."""
        counters, output = self._tables.counters, self._output
        jobs = output.jobs[: counters[codes.OUT_JOBS]].copy()
        places = int(counters[codes.OUT_PLACES])
        rows = output.rounds[: counters[codes.OUT_ROUNDS]].copy()
        times = output.decision_times[: counters[codes.OUT_ROUNDS]].copy()
        counters[[codes.OUT_JOBS, codes.OUT_PLACES, codes.OUT_ROUNDS]] = 0
        types = len(self._system.resource_types)
        first = codes.ROUND_COLUMNS
        return (
            LeftJobs._make([*jobs.T, output.nodes[:places].copy(), output.units[:places].copy()]),
            HeldRounds._make(
                [
                    *rows[:, :first].T,
                    rows[:, first : first + types],
                    rows[:, first + types :],
                    times,
                ]
            ),
        )
