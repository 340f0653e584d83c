"""State of the core, filled from one dispatching problem after another.

Arrays are reused from round to round, since creating them takes longer than deciding most rounds.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from hpcsched._core import State
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.cell_lists import add_cells
from hpcsched.dispatching.core.shape_table import ShapeTable
from hpcsched.dispatching.core.shared_resource_tables import (
    OwnDraws,
    first_nodes,
    shared_resource_tables,
    with_nodes,
    with_rows_of_shared,
)
from hpcsched.dispatching.core.state import (
    Batch,
    Choices,
    FlightTables,
    FollowedTables,
    OutageTables,
)
from hpcsched.dispatching.core.state_arrays import new_output, new_tables, with_cells, with_rows
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.allocation import Allocation, Interval, NodeAllocation, SlotAllocation, SlotMap
from hpcsched.system.node_outages import Outage
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray, System

_of_waiting = itemgetter(*map(WaitingJob._fields.index, ("predicted_run_time", "units")))
_of_running = itemgetter(*map(RunningJob._fields.index, ("predicted_end_time", "units")))
_WAITS = np.array([1, codes.NEVER, codes.NO_ROOM, -1, -1])
"""Columns of a waiting job, from `WAITS` to `WHEN`."""


class ProblemState:
    """State for problems of one system and one form of free capacity.

    Parameters
    ----------
    system
        System of all problems.
    slot_map
        Numbering of slots where they are counted; None where units are placed node by node.
    choices
        Rule, allocator and options.
    """

    def __init__(self, system: System, slot_map: SlotMap | None, choices: Choices) -> None:
        self.system = system
        self.slot_map = slot_map
        self.shapes = ShapeTable(system)
        self._outages: tuple[Outage, ...] = ()
        self._choices = choices
        slots = np.zeros(1, dtype=np.int64) if slot_map is None else np.array(slot_map.first)
        self.tables = new_tables(system.capacity, slots, 0, 0, 1)
        self._state: State | None = None
        self._shared_resources = shared_resource_tables(system, len(self.tables.jobs))
        self._own_draws = OwnDraws(system)
        self._numbers = np.arange(len(self.tables.jobs))
        # Behind each cell comes the next, but for the last of a list.
        self._links = np.array([-1])
        self._used = 0

    def __getstate__(self) -> dict[str, Any]:
        # A copy has arrays of its own, of which it makes its own state.
        return {**self.__dict__, "_state": None}

    def fill(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        behind: Sequence[WaitingJob] | None,
    ) -> None:
        """Write a problem into the state; the first rows are those of the queue.

        Parameters
        ----------
        problem
            Dispatching problem of the round.
        order
            Queue in the order in which jobs are considered.
        behind
            The same jobs in the order behind the head job; None: the same order.
        """
        # A state holds tables of outages, so that these are replaced with it.
        if problem.outages != self._outages:
            self._outages = problem.outages
            self._state = None
        running = problem.running
        queued, rows = len(order), len(order) + len(running)
        self.shapes.make_room(rows)
        # Twice as many as needed: a queue that grows by one must not copy the tables each round.
        if rows > len(self.tables.jobs):
            self.tables = with_rows(self.tables, 2 * rows)
            self._numbers = np.arange(len(self.tables.jobs))
            self._shared_resources = with_rows_of_shared(
                self._shared_resources, len(self.tables.jobs)
            )
            self._state = None
        tables = self.tables
        counters, jobs = tables.counters, tables.jobs
        counters[codes.QUEUED], counters[codes.RUNNING] = queued, len(running)
        counters[codes.STARTED] = counters[codes.ACTIVE_SHAPES] = 0
        counters[codes.NOW] = problem.now

        # Waiting jobs come first, in the order of the queue, and running ones behind them.
        jobs[:queued, codes.PREDICTED : codes.UNITS + 1] = _rows(_of_waiting, order)
        jobs[:queued, codes.WAITS : codes.WHEN + 1] = _WAITS
        runs = _rows(_of_running, running)
        jobs[queued:rows, codes.PLANNED_END : codes.SHOWN_END + 1] = runs[:, :1]
        jobs[queued:rows, codes.UNITS] = runs[:, 1]
        numbers = self._numbers
        tables.queue[:queued] = numbers[:queued]
        tables.running[: len(running)] = tables.ends[: len(running)] = numbers[queued:rows]
        if behind is not None:
            row_of = {job.job_id: row for row, job in enumerate(order)}
            tables.behind[:queued] = [row_of[job.job_id] for job in behind]
        if self.slot_map is None:
            self._fill_nodes(problem, order)
        else:
            self._fill_slots(problem, order)

    def set_promises(self, order: Sequence[WaitingJob], promises: Mapping[int, int]) -> None:
        """Write the promised starts and the submit times of jobs.

        Parameters
        ----------
        order
            Jobs of the first rows.
        promises
            Promised starts in seconds, by job number.
        """
        jobs = self.tables.jobs
        jobs[: len(order), codes.SUBMIT_TIME] = [job.submit_time for job in order]
        jobs[: len(order), codes.PROMISE] = [promises.get(job.job_id, codes.NEVER) for job in order]

    def set_reservations(
        self,
        order: Sequence[WaitingJob],
        starts: Mapping[int, int],
        places: Mapping[int, Allocation],
    ) -> None:
        """Write the reserved starts and nodes of jobs.

        Parameters
        ----------
        order
            Jobs of the first rows.
        starts
            Reserved starts in seconds, by job number.
        places
            Reserved allocations, by job number.
        """
        tables = self.tables
        jobs, queued = tables.jobs, len(order)
        jobs[:queued, codes.SEQUENCE] = self._numbers[:queued]
        jobs[:queued, codes.RESERVED] = [starts.get(job.job_id, codes.NEVER) for job in order]
        jobs[:queued, codes.CELL] = -1
        if self.slot_map is not None:
            return
        for row, job in enumerate(order):
            where = places.get(job.job_id)
            if where is not None:
                at = zip(where.nodes, where.units, strict=True)
                jobs[row, codes.CELL] = add_cells(at, tables)

    def column(self, order: Sequence[WaitingJob], column: int) -> dict[int, int]:
        """Return the values of a column of the job table by job number, leaving out `NEVER`.

        Parameters
        ----------
        order
            Jobs of the first rows.
        column
            Column of the table of jobs (see `codes`).

        Returns
        -------
        dict[int, int]
            Values by job number.
        """
        values = self.tables.jobs[: len(order), column].tolist()
        pairs = zip(order, values, strict=True)
        return {job.job_id: value for job, value in pairs if value != codes.NEVER}

    def reserved_places(self, order: Sequence[WaitingJob]) -> dict[int, Allocation]:
        """Return the reserved nodes of waiting jobs by number; empty where slots are counted."""
        if self.slot_map is not None:
            return {}
        jobs = self.tables.jobs
        rows = np.flatnonzero(jobs[: len(order), codes.WAITS]).tolist()
        first = zip(rows, jobs[rows, codes.CELL].tolist(), strict=True)
        return {order[row].job_id: self._allocation(cell) for row, cell in first if cell != -1}

    def state(self) -> State:
        """Return the core's state, which shares its arrays with this object."""
        if self._state is None:
            none = np.zeros(0, dtype=np.int64)
            keys = none.reshape(0, 0)
            self._state = State(
                self.tables,
                self.shapes.shapes,
                self._choices,
                _outage_tables(self._outages),
                FollowedTables(),
                FlightTables(),
                self._shared_resources,
                Batch(none, none, none, none, none, none, none, keys, keys, none > 0, last=True),
                new_output(len(self.system.resource_types), 0, 0, 0),
                by_node=self.slot_map is None,
            )
        return self._state

    def started(self) -> list[tuple[int, Allocation]]:
        """Return the rows of started jobs in order, with their allocations."""
        tables = self.tables
        count = int(tables.counters[codes.STARTED])
        if count == 0:
            return []
        rows = tables.started[:count].tolist()
        first = tables.jobs[rows, codes.CELL].tolist()
        return [(row, self._allocation(cell)) for row, cell in zip(rows, first, strict=True)]

    def _allocation(self, first: int) -> Allocation:
        """Return the allocation in the list of cells that begins with `first`."""
        places: list[Interval] = []
        cell = first
        while cell != -1:
            one, other, cell = self.tables.cells[cell].tolist()
            places.append((one, other))
        if self.slot_map is not None:
            return SlotAllocation(tuple(places), self.slot_map)
        return NodeAllocation(*zip(*places, strict=True))

    def _fill_slots(self, problem: DispatchingProblem, order: Sequence[WaitingJob]) -> None:
        """Write the free slots; of jobs, only their number of units matters."""
        assert problem.free_slots is not None
        tables, free = self.tables, problem.free_slots
        self.shapes.number(order[0].request)
        if self.shapes.write():
            self._state = None
        low, high = [begin for begin, _ in free], [end for _, end in free]
        tables.interval_low[: len(free)] = low
        tables.interval_high[: len(free)] = high
        tables.counters[codes.INTERVALS] = len(free)
        tables.counters[codes.FREE_SLOTS] = sum(high) - sum(low)
        # Each start ends within one interval, and uses up all of others.
        self._free_cells(0, len(free) + len(order))

    def _fill_nodes(self, problem: DispatchingProblem, order: Sequence[WaitingJob]) -> None:
        """Write the free amounts of nodes, the running jobs, and the shapes of all jobs."""
        number, running = self.shapes.number, problem.running
        shapes = [number(job.request) for job in order]
        shapes += [number(job.waiting.request) for job in running]
        if self.shapes.write():
            self._state = None
            self._shared_resources = with_nodes(
                first_nodes(self._shared_resources, 0), self.shapes.shapes
            )
        tables, table = self.tables, self.shapes.shapes
        queued, rows = len(order), len(shapes)
        tables.jobs[:rows, codes.SHAPE] = shapes
        table.shape_waiting[:] = 0
        free = problem.free_amounts
        tables.available[:] = problem.availability.T if free is None else free
        amounts = table.asked[tables.jobs[:rows, codes.SHAPE]]
        amounts *= tables.jobs[:rows, codes.UNITS, np.newaxis]
        tables.waiting_amounts[:] = amounts[:queued].sum(axis=0)
        tables.running_amounts[:] = amounts[queued:].sum(axis=0)

        places = [(job.allocation.nodes, job.allocation.units) for job in running]
        ends = np.cumsum([len(nodes) for nodes, _ in places], dtype=np.int64)
        taken = int(ends[-1]) if len(ends) else 0
        nodes = len(tables.available[0])
        demand = int(np.minimum(tables.jobs[:queued, codes.UNITS], nodes).sum())
        if self._choices.rule < codes.CONSERVATIVE:  # Otherwise jobs have nodes later as well.
            demand = min(demand, self.shapes.most_units())
        self._free_cells(taken, demand)
        cells = self.tables.cells
        cells[:taken, 0] = list(chain.from_iterable(nodes for nodes, _ in places))
        cells[:taken, 1] = list(chain.from_iterable(units for _, units in places))
        cells[ends - 1, 2] = -1
        tables.jobs[queued:rows, codes.CELL] = np.concatenate(([0], ends))[:-1]
        if problem.system.shared_resources:
            asked = [*order, *[job.waiting for job in running]]
            self._fill_shared([job.request for job in asked], queued, cells[:taken, 0])

    def _fill_shared(self, requests: Sequence[Request], queued: int, on: IntArray) -> None:
        """Write the jobs' draws on shared resources, running jobs after waiting ones.

        `on` are the nodes of running jobs, each once per job.
        """
        shared = self._shared_resources
        assert shared.shared_own is not None and shared.shared_jobs_on is not None
        assert shared.shared_drawn is not None and shared.shared_node is not None
        own = shared.shared_own[: len(requests)]
        own[:] = self._own_draws.of(requests)
        shared.shared_jobs_on[:] = np.bincount(on, minlength=len(shared.shared_jobs_on))
        switched_on = np.count_nonzero(shared.shared_jobs_on)
        shared.shared_drawn[:] = own[queued:].sum(axis=0) + switched_on * shared.shared_node

    def _free_cells(self, taken: int, needed: int) -> None:
        """Free all cells but the first `taken`, and provide at least `needed` free ones."""
        counters = self.tables.counters
        if taken + needed > len(self.tables.cells):
            self.tables = with_cells(self.tables, 2 * (taken + needed))
            self._links = np.arange(1, len(self.tables.cells) + 1)
            self._links[-1] = -1
            self._state = None
            self._used = len(self.tables.cells)
        # Rounds take no cells behind those that were needed.
        used = max(self._used, taken)
        self.tables.cells[:used, 2] = self._links[:used]
        self._used = taken + needed
        counters[codes.FREE_CELL] = taken
        counters[codes.CELLS_FREE] = len(self.tables.cells) - taken


def _outage_tables(outages: Sequence[Outage]) -> OutageTables:
    """Return the tables of announced outages."""
    if not outages:
        return OutageTables()
    return OutageTables(
        outage_start=np.array([outage.start for outage in outages]),
        outage_end=np.array([outage.end for outage in outages]),
        outage_first=np.cumsum([0, *(len(outage.nodes) for outage in outages)]),
        outage_nodes=np.array([node for outage in outages for node in outage.nodes]),
    )


def _rows(get: Callable[[Any], tuple[int, int]], of: Sequence[Any]) -> IntArray:
    """Return two numbers of each object as an array, `[K, 2]`."""
    numbers = np.fromiter(chain.from_iterable(map(get, of)), np.int64, 2 * len(of))
    return numbers.reshape(-1, 2)
