"""State of the core, filled from one dispatching problem after another.

A state is reused from round to round, since making one takes longer than deciding most rounds.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from hpcsched._core import NEVER, Choices
from hpcsched.dispatching.core_state import (
    OwnDraws,
    RequestShapes,
    announce,
    new_state,
    numbers,
)
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.system.outages import Outage
from hpcsched.system.space import Allocation, NodeAllocation, SlotAllocation, SlotMap
from hpcsched.system.system import IntArray, Request, ShapeKey, System, shape_key

_of_waiting = itemgetter(*map(WaitingJob._fields.index, ("predicted_run_time", "units")))
_of_running = itemgetter(*map(RunningJob._fields.index, ("predicted_end_time", "units")))

_SPARE = 1024
"""Number of shapes or requests that may be cached beyond those of a problem."""


class ProblemState:
    """State for problems of one system and one form of free capacity.

    Parameters
    ----------
    slot_map
        Numbering of slots where they are counted; None where units are placed node by node.
    """

    def __init__(self, system: System, slot_map: SlotMap | None, choices: Choices) -> None:
        self.system = system
        self.slot_map = slot_map
        self._choices = choices
        self._own_draws = OwnDraws(system)
        self._begin()

    def _begin(self) -> None:
        """Begin with a new state, which knows no shapes."""
        self.state = new_state(self.system, self.slot_map, self._choices)
        self._shapes = RequestShapes(self.system)
        self._outages: tuple[Outage, ...] = ()
        self._numbers: dict[ShapeKey, int] = {}
        # The numbers of single objects, as each is asked about in many rounds.
        self._known: dict[int, tuple[Request, int]] = {}

    def fill(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        behind: Sequence[WaitingJob] | None,
    ) -> None:
        """Write a problem into the state; the first rows are those of the queue.

        Parameters
        ----------
        behind
            The same jobs in the order behind the head job; None: the same order.
        """
        running = problem.running
        most = 2 * (len(order) + len(running)) + _SPARE
        if len(self._numbers) > most:
            self._begin()
        elif len(self._known) > most:
            self._known.clear()
        if problem.outages != self._outages:
            self._outages = problem.outages
            announce(self.state, problem.outages)
        row_of = {} if behind is None else {job.job_id: row for row, job in enumerate(order)}
        self.state.fill(
            problem.now,
            _rows(_of_waiting, order),
            _rows(_of_running, running),
            numbers([row_of[job.job_id] for job in behind or ()]),
        )
        if self.slot_map is not None:
            assert problem.free_slots is not None
            self._shapes_of([order[0].request])
            self.state.fill_slots(problem.free_slots)
            return
        requests = [job.request for job in order]
        requests += [job.waiting.request for job in running]
        places = [job.allocation for job in running]
        free = problem.free_amounts
        self.state.fill_nodes(
            self._shapes_of(requests),
            numbers([len(place.nodes) for place in places]),
            numbers(chain.from_iterable(place.nodes for place in places)),
            numbers(chain.from_iterable(place.units for place in places)),
            problem.availability.T if free is None else free,
        )
        if problem.system.shared_resources:
            self.state.fill_draws(self._own_draws.of(requests))

    def set_promises(self, order: Sequence[WaitingJob], promises: Mapping[int, int]) -> None:
        """Write the submit times of jobs, and the promised starts by job number, in seconds."""
        rows = np.arange(len(order))
        self.state.set_jobs("submit_time", rows, numbers([job.submit_time for job in order]))
        promised = numbers([promises.get(job.job_id, NEVER) for job in order])
        self.state.set_jobs("promise", rows, promised)

    def set_owners(self, order: Sequence[WaitingJob]) -> None:
        """Write the users and partitions of jobs."""
        owners = [(waiting.job.user, waiting.job.partition) for waiting in order]
        self.state.fill_owners(
            np.array([[-1 if n is None else n for n in of] for of in owners], dtype=np.int64)
        )

    def set_reservations(
        self,
        order: Sequence[WaitingJob],
        starts: Mapping[int, int],
        places: Mapping[int, Allocation],
    ) -> None:
        """Write the reserved starts, in seconds, and allocations of jobs, by job number."""
        reserved = numbers([starts.get(job.job_id, NEVER) for job in order])
        self.state.set_jobs("reserved", np.arange(len(order)), reserved)
        if self.slot_map is not None:
            return
        for row, job in enumerate(order):
            where = places.get(job.job_id)
            if where is not None:
                self.state.set_places(row, list(zip(where.nodes, where.units, strict=True)))

    def column(self, order: Sequence[WaitingJob], name: str) -> dict[int, int]:
        """Return a number of each job by job number, leaving out `NEVER`."""
        values = self.state.jobs(name, np.arange(len(order))).tolist()
        pairs = zip(order, values, strict=True)
        return {job.job_id: value for job, value in pairs if value != NEVER}

    def reserved_places(self, order: Sequence[WaitingJob]) -> dict[int, Allocation]:
        """Return the reserved nodes of waiting jobs by number; empty where slots are counted."""
        if self.slot_map is not None:
            return {}
        waits = self.state.jobs("waits", np.arange(len(order))).tolist()
        found = ((job, self.state.places(row)) for row, job in enumerate(order) if waits[row])
        return {job.job_id: self._allocation(places) for job, places in found if places}

    def started(self) -> list[tuple[int, Allocation]]:
        """Return the rows of started jobs in order, with their allocations."""
        state = self.state
        return [(row, self._allocation(state.places(row))) for row in state.started]

    def _allocation(self, places: Sequence[tuple[int, int]]) -> Allocation:
        if self.slot_map is not None:
            return SlotAllocation(tuple(places), self.slot_map)
        return NodeAllocation(*zip(*places, strict=True))

    def _shapes_of(self, requests: Sequence[Request]) -> IntArray:
        """Return the shapes of requests; those that are new are added."""
        new: list[Request] = []
        found = []
        for request in requests:
            known = self._known.get(id(request))
            if known is None:
                key = shape_key(request)
                number = self._numbers.get(key)
                if number is None:
                    number = self._numbers[key] = len(self._numbers)
                    new.append(request)
                known = self._known[id(request)] = request, number
            found.append(known[1])
        self._shapes.add(self.state, new)
        return numbers(found)


def _rows(get: Callable[[Any], tuple[int, int]], of: Sequence[Any]) -> IntArray:
    """Return two numbers of each object as an array, `[K, 2]`."""
    found = np.fromiter(chain.from_iterable(map(get, of)), np.int64, 2 * len(of))
    return found.reshape(-1, 2)
