"""Face of the event loop of the core: columns of jobs in, columns of results out.

Python answers where the loop returns, and the loop goes on where it was. That is at each instant
where Python decides; see `hpcsched.simulation.engine`.
"""

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter

import numpy as np

from hpcsched._core import State
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.shape_arrays import (
    first_shapes,
    most_units,
    no_shapes,
    with_length_of_all,
    with_shapes,
)
from hpcsched.dispatching.core.shared_resource_tables import (
    first_nodes,
    shared_resource_tables,
    with_nodes,
    with_rows_of_shared,
)
from hpcsched.dispatching.core.state import Batch, BoolArray, Choices, Tables
from hpcsched.dispatching.core.state_arrays import new_output, new_tables, with_cells, with_rows
from hpcsched.dispatching.decision import NOTHING
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.dispatching.shapes import shape_of
from hpcsched.simulation.column_checks import ColumnChecks
from hpcsched.simulation.decision_requests import DecisionRequests
from hpcsched.simulation.late_starts import LateStarts
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import (
    DECIDED_IN_PYTHON,
    choices_of,
    counts_slots,
    orders_of,
)
from hpcsched.simulation.replay_flight import ReplayFlight
from hpcsched.simulation.replay_followers import ReplayFollowers
from hpcsched.simulation.replay_orders import ReplayOrders
from hpcsched.simulation.replay_outages import longer, outage_tables, with_requests
from hpcsched.simulation.replay_output import RunningJobs, Written, take_written
from hpcsched.simulation.replay_predictions import ReplayPredictions
from hpcsched.simulation.shared_resource_admission import SharedResourceAdmission
from hpcsched.system.allocation import SlotMap
from hpcsched.system.request import Request
from hpcsched.system.space import slots_per_node
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import NO_JOBS, JobColumns, NeedsPythonError, records_of


class EventLoop:
    """One replay; `run` can be called once.

    Parameters
    ----------
    parts
        Parts of the simulation.
    seconds
        Real seconds after which a part of the replay ends, so that it can be watched and stopped.
    places
        False: the nodes of jobs are not recorded.
    in_python
        True: the dispatcher is asked in Python, and all followers are notified of each instant
        before the next.
    """

    def __init__(
        self, parts: Parts, seconds: float = 0.2, *, places: bool = True, in_python: bool = False
    ) -> None:
        self._parts = parts
        self._system = system = parts.system
        orders: tuple[QueueOrder, QueueOrder] = ArrivalOrder(), ArrivalOrder()
        if in_python:
            choices = DECIDED_IN_PYTHON._replace(writes_places=places)
        else:
            orders, choices = orders_of(parts.dispatcher), choices_of(parts, places=places)
        self._predictions = ReplayPredictions(parts, orders, in_python=in_python)
        self._seconds, self._until = seconds, 0.0
        slots = np.zeros(1, dtype=np.int64)
        self.by_node = not counts_slots(parts, choices)
        self._choices = choices
        slot_map: SlotMap | None = None
        if not self.by_node:
            assert parts.uniform_request is not None
            slot_map = SlotMap(slots_per_node(system, parts.uniform_request))
            slots = np.array(slot_map.first)
        self._shapes = no_shapes(*system.capacity.shape)
        none = np.empty(0, dtype=np.int64)
        keys, behind_keys = self._predictions.keys(NO_JOBS, none)
        self._tables = new_tables(
            system.capacity, slots, keys.shape[1], behind_keys.shape[1], max(int(slots[-1]), 1024)
        )
        self._tables.counters[codes.MOST_CELLS] = len(self._tables.cells)
        self._output = new_output(len(system.resource_types), 4096, 1 << 16, 4096)
        self._outages = outage_tables(parts.outages, system)
        if parts.outages.all:
            self._tables.counters[codes.ALTERED] = 1
        rows = len(self._tables.jobs)
        late_starts = LateStarts(parts, self._outages) if in_python else None
        self._following = following = ReplayFollowers(parts, self._tables, late_starts)
        self._order = ReplayOrders(orders, choices, following.events)
        types = len(system.resource_types)
        self._flight = ReplayFlight(parts.latency, types, rows, in_python=in_python)
        self._asking: DecisionRequests | None = None
        if in_python:
            self._asking = DecisionRequests(parts, following.events, following.holding, slot_map)
        # In each period of shared resources a decision may take another time, as fractions of
        # seconds are carried over, and only one of these times may suit.
        rounds = 1 if parts.latency is None else parts.latency.fractions
        self._shared_resources = shared_resource_tables(system, rows, rounds)
        self._admission = SharedResourceAdmission(system)
        self._checks = ColumnChecks(max((outage.end for outage in parts.outages.all), default=0))
        self.stopped = False
        # How many of the jobs and rounds that are written followers were told of.
        self._known = 0, 0

    @property
    def parts(self) -> Parts:
        """Parts of the simulation."""
        return self._parts

    @property
    def choices(self) -> Choices:
        """Rule and options of the replay."""
        return self._choices

    @property
    def tables(self) -> Tables:
        """Tables of the jobs in the system."""
        return self._tables

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return int(self._tables.counters[codes.QUEUED])

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return int(self._tables.counters[codes.RUNNING])

    @property
    def submitted(self) -> int:
        """Number of jobs that have been submitted."""
        return int(self._tables.counters[codes.SUBMITTED])

    @property
    def now(self) -> int:
        """Present simulated second; 0 before the first instant."""
        return int(self._tables.counters[codes.NOW])

    @property
    def allocated(self) -> IntArray:
        """Amount of each resource type that running jobs hold, `[R]`."""
        return self._tables.running_amounts

    @property
    def drawn(self) -> tuple[int, ...]:
        """Amount drawn from each shared resource, `[P]`."""
        drawn = self._shared_resources.shared_drawn
        return () if drawn is None else tuple(drawn.tolist())

    @property
    def running_jobs(self) -> RunningJobs:
        """The running jobs."""
        rows = self._tables.jobs[self._tables.running[: self.running]]
        return RunningJobs(*(rows[:, k] for k in (codes.START, codes.UNITS, codes.REQUEST)))

    def stop(self) -> None:
        """End the replay after the present instant, with jobs left in the system."""
        self.stopped = True

    def run(self, batches: Iterable[JobColumns]) -> Iterator[Written]:
        """Replay jobs; yield the jobs that have left and the rounds, part by part.

        A batch is read when all jobs before it have been submitted. Where Python decides, all that
        followers were told of is yielded before an error is raised.

        Raises
        ------
        NeedsPythonError
            If jobs cannot be replayed in compiled code.
        """
        try:
            yield from self._advance(batches)
        except (Exception, KeyboardInterrupt):
            if self._asking is not None:
                yield self._told()
            raise

    def _advance(self, batches: Iterable[JobColumns]) -> Iterator[Written]:
        """Replay jobs; see `run`."""
        batches = iter(batches)
        batch = self._next_batch(batches)
        state: State | None = None
        while not (self.stopped and self._between_instants):
            if state is None:  # It takes longer to make than many an instant.
                self._until = perf_counter() + self._seconds
                state = self._state(batch)
            because = state.advance(self._seconds_left)
            if self._is_answered(because, batch):
                continue
            # The arrays may be others from here on.
            state = None
            if because == codes.NEEDS_JOBS:
                # What was written is told before the jobs, since these may turn out to be unusable.
                yield self._written()
                batch = self._next_batch(batches)
            elif because in (codes.NEEDS_ROWS, codes.NEEDS_CELLS, codes.NEEDS_SHAPES):
                self._make_room(because)
            elif because == codes.OUTPUT_FULL:
                yield self._written()
                self._make_places()
                self._following.make_room(self._tables)
            elif because == codes.DONE:
                if self.waiting:
                    raise self._stranded()
                break
            elif because != codes.NEEDS_DECISION:
                yield self._written()
        yield self._written()

    @property
    def _seconds_left(self) -> float:
        """Seconds for which the loop may go on; below 0: to the next instant."""
        if self._asking is not None:
            return -1.0
        return 0.0 if self.stopped else max(self._until - perf_counter(), 0.0)

    def _stranded(self) -> Exception:
        """Return the error about jobs that wait for ever."""
        if self._asking is None:
            return NeedsPythonError("jobs that wait for ever")
        self._following.catch_up(self._tables, self._output)
        return self._asking.stranded(self._tables)

    def _is_answered(self, because: int, batch: Batch) -> bool:
        """Answer a question of the loop; return False if it was none. No array is replaced."""
        tables, output, following = self._tables, self._output, self._following
        if because == codes.NEEDS_DECISION:
            return self._is_decided()
        if because == codes.PAUSED and self._asking is not None:
            self._catch_up()
            return perf_counter() < self._until
        if because == codes.NEEDS_PREDICTIONS:
            first = int(tables.counters[codes.FORESEEN])
            self._predictions.predict(batch, tables, output, self._checks)
            self._admission.refuse(batch, first, int(tables.counters[codes.FORESEEN]))
        elif because == codes.NEEDS_CORRECTIONS:
            self._predictions.correct(tables)
        elif because == codes.NEEDS_ORDER:
            following.catch_up(tables, output)
            self._order.sort(tables, self._shapes, by_node=self.by_node)
        elif because == codes.NEEDS_CHARGE:
            decision = NOTHING if self._asking is None else self._asking.decision
            self._flight.charge(tables, decision)
        elif because in (codes.NEEDS_LOOK, codes.NEEDS_SECOND_LOOK):
            following.catch_up(tables, output)
            look = following.look if because == codes.NEEDS_LOOK else following.look_again
            look(tables)
        else:
            return False
        return True

    def _is_decided(self) -> bool:
        """Ask the dispatcher for a decision; return False if arrays were replaced."""
        assert self._asking is not None
        tables = self._tables
        self._catch_up()
        self._tables = self._asking.ask(tables, self._flight.tables, self._outages)
        return self._tables is tables

    def _state(self, batch: Batch) -> State:
        """Return the core's state, with a batch of jobs."""
        return State(
            self._tables,
            self._shapes,
            self._choices,
            self._outages,
            self._following.tables,
            self._flight.tables,
            self._shared_resources,
            batch,
            self._output,
            by_node=self.by_node,
        )

    @property
    def _between_instants(self) -> bool:
        return self._tables.counters[codes.PHASE] in (codes.NEXT_INSTANT, codes.FLIGHT)

    def _make_room(self, because: int) -> None:
        """Extend the tables that are full."""
        if because == codes.NEEDS_ROWS:
            self._tables = with_rows(self._tables, 2 * len(self._tables.jobs))
            self._following.with_rows(len(self._tables.jobs))
            self._flight.with_rows(len(self._tables.jobs))
            self._shared_resources = with_rows_of_shared(
                self._shared_resources, len(self._tables.jobs)
            )
        elif because == codes.NEEDS_CELLS:
            self._make_cells()
        else:
            self._make_shapes(2 * len(self._shapes.asked))

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
        """Make room for the places of any one job, and for all that a decision rejects."""
        largest, rejected = self._system.node_count, int(self._tables.counters[codes.DISMISSED])
        output = self._output
        if len(output.nodes) < 2 * largest or len(output.jobs) < rejected:
            self._output = new_output(
                len(self._system.resource_types),
                max(len(output.jobs), 2 * rejected),
                max(len(output.nodes), 2 * largest),
                len(output.rounds),
            )

    def _next_batch(self, batches: Iterator[JobColumns]) -> Batch:
        """Return the next batch of jobs in the form of the core, and begin it."""
        columns = next(batches, None)
        last = columns is None
        if columns is None:
            columns = NO_JOBS
        self._add_shapes(columns.requests)
        tables, shapes = self._tables, self._shapes
        present = tables.waiting_amounts + tables.running_amounts
        self._checks.check_amounts(columns, shapes.asked, present)
        if self._asking is None:
            self._checks.check(columns, shapes.on_idle.sum(axis=1))
        jobs, watched = self._records(columns)
        self._predictions.begin(columns, jobs, tables.counters)
        tables.counters[codes.NEXT] = 0
        draws = self._admission.begin(columns)
        batch = self._batch_of(columns, watched, last=last)._replace(draws=draws)
        self._admission.refuse(batch, 0, int(tables.counters[codes.FORESEEN]))
        return batch

    def _batch_of(self, columns: JobColumns, watched: BoolArray, *, last: bool) -> Batch:
        """Return jobs in the form of the core."""
        predicted = self._predictions.known(columns)
        keys, behind_keys = self._predictions.keys(columns, predicted)
        return Batch(
            columns.job_id,
            columns.submit_time,
            self._predictions.run_times(columns),
            predicted,
            columns.requested_time,
            columns.units,
            columns.request,
            keys,
            behind_keys,
            watched,
            last,
            columns.refusals.copy()
            if self._parts.partitions or self._system.shared_resources
            else None,
        )

    def _records(self, columns: JobColumns) -> tuple[Sequence[TracedJob], BoolArray]:
        """Return the jobs of a batch as records, if needed, and the mask of followed ones."""
        after = columns.details.column("after")
        undeclared = after.null_count < len(after) and not self._parts.dependencies
        if undeclared and self._asking is None:
            raise NeedsPythonError("dependencies between jobs")
        if not (self._following.needed or self._predictions.needs_jobs):
            return (), np.zeros(len(after), dtype=np.bool_)
        jobs = tuple(records_of([columns]))
        return jobs, self._following.read(jobs)

    def _add_shapes(self, requests: Sequence[Request]) -> None:
        counters = self._tables.counters
        known = int(counters[codes.REQUESTS])
        new = [shape_of(self._system, request) for request in requests[known:]]
        if not new:
            return
        self._shapes = with_shapes(first_shapes(self._shapes, known), new)
        if self._choices.compression is not None:
            # Jobs that wait have places as well: as many as they need.
            counters[codes.MOST_CELLS] = codes.NEVER
        elif self.by_node:
            counters[codes.MOST_CELLS] = most_units(self._shapes, self._system)
        counters[codes.REQUESTS] = counters[codes.SHAPES] = len(requests)
        if self._outages.down is not None:
            # New ones are where those on fewer nodes were, which are found anew.
            counters[codes.STALE] = 1
            counters[codes.ACTIVE_SHAPES] = 0
            self._shapes.shape_waiting[:] = 0
            self._outages = with_requests(self._outages, self._system, requests)
            self._make_shapes(2 * len(requests))
        self._shared_resources = with_nodes(
            first_nodes(self._shared_resources, known), self._shapes
        )

    def _make_shapes(self, count: int) -> None:
        """Extend the tables to a number of shapes, those on fewer nodes included."""
        self._shapes = with_length_of_all(self._shapes, count)
        self._outages = longer(self._outages, count)
        self._shared_resources = with_nodes(self._shared_resources, self._shapes)

    def _catch_up(self) -> None:
        """Notify the followers, and note how much they know."""
        self._following.catch_up(self._tables, self._output)
        counters = self._tables.counters
        self._known = int(counters[codes.OUT_JOBS]), int(counters[codes.OUT_ROUNDS])

    def _written(self) -> Written:
        self._predictions.learn(self._tables.counters, self._output)
        self._predictions.taken()
        self._catch_up()
        return self._take()

    def _told(self) -> Written:
        """Return what followers were told of, after an error; they are not told of any more."""
        counters, (jobs, rounds) = self._tables.counters, self._known
        places = self._output.jobs[jobs - 1, codes.OUT_LAST_PLACE] if jobs else 0
        counters[[codes.OUT_JOBS, codes.OUT_PLACES, codes.OUT_ROUNDS]] = jobs, places, rounds
        return self._take()

    def _take(self) -> Written:
        """Return all rows of the output, which begins anew."""
        counters = self._tables.counters
        remarks = self._following.events.remarks[: counters[codes.OUT_ROUNDS]]
        self._known = 0, 0
        self._following.taken(counters)
        written = take_written(counters, self._output, self._shared_resources.shared_levels)
        return written._replace(remarks=remarks)
