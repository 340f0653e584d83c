"""Calls of the core for single problems."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from hpcsched import _core
from hpcsched._core import NEVER, Choices, Rule
from hpcsched.dispatching.allocator import Allocator, Room, placed_by, slots_taken_by
from hpcsched.dispatching.core_state import (
    OwnDraws,
    RequestShapes,
    announce,
    new_state,
    numbers,
)
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.rules.allocators import (
    Balanced,
    BestFit,
    FirstFit,
    Hybrid,
    KeepScarce,
    Weighted,
    scarce_types,
)
from hpcsched.system.outages import Outage
from hpcsched.system.space import Allocation, Interval, NodeAllocation, SlotAllocation, SlotMap
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


ALLOCATORS = {
    FirstFit: _core.Allocator.FIRST_FIT,
    BestFit: _core.Allocator.BEST_FIT,
    KeepScarce: _core.Allocator.KEEP_SCARCE,
    Weighted: _core.Allocator.WEIGHTED,
    Balanced: _core.Allocator.BALANCED,
    Hybrid: _core.Allocator.HYBRID,
}
"""The allocators that the core implements."""


def core_allocator(allocator: Allocator) -> _core.Allocator:
    """Return the core's allocator; `EXTERNAL` for one that runs in Python."""
    return ALLOCATORS.get(type(allocator), _core.Allocator.EXTERNAL)


def scarce_resource_mask(system: System, allocator: Allocator) -> list[bool]:
    """Return which resource types an allocator treats as scarce, `[R]`; empty if it has none."""
    if not isinstance(allocator, Weighted | Balanced | Hybrid):
        return []
    scarce_resources = np.zeros(len(system.resource_types), dtype=np.bool_)
    if not isinstance(allocator, Weighted):
        scarce_resources[scarce_types(system, allocator.scarce_resources)] = True
    return scarce_resources.tolist()


def chooses_slots(allocator: Allocator) -> bool:
    """Check whether an allocator can choose slots: first fit, or a `SlotAllocator`."""
    return hasattr(allocator, "allocate_slots")


class PythonAllocator:
    """Adapter that lets the core call an allocator written in Python."""

    def __init__(self, allocator: Any) -> None:
        self._allocator = allocator
        self._asked: tuple[DispatchingProblem, Sequence[WaitingJob]] | None = None

    @contextmanager
    def about(self, problem: DispatchingProblem, jobs: Sequence[WaitingJob]) -> Iterator[None]:
        """Set the problem, and the jobs of the first rows, that calls within the context mean."""
        self._asked = problem, jobs
        yield
        self._asked = None

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Return the units that a job gets on each node, `[N]`.

        Parameters
        ----------
        fits
            Number of units that each node can hold, `[N]`.
        available
            Free amount by resource type and node, `[R, N]`.
        """
        assert self._asked is not None
        problem, jobs = self._asked
        job = jobs[row]
        room = Room(fits, available, job.unit_request, problem.system, problem)
        allocation = placed_by(self._allocator, job.units, room)
        placed = np.zeros(len(fits), dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        return placed

    def take_slots(
        self, units: int, free: list[Interval]
    ) -> tuple[Sequence[Interval], Sequence[Interval]]:
        """Return the slots that a job gets, and the free intervals that are left."""
        taken = slots_taken_by(self._allocator, units, free)
        return taken, free


class CoreCalls:
    """Caller of the core for one problem after another."""

    def __init__(self, rule: Rule, allocator: Allocator, **options: Any) -> None:
        self._rule, self._options = rule, options
        self._allocator = allocator
        self._in_core = core_allocator(allocator)
        is_external = self._in_core is _core.Allocator.EXTERNAL
        self._asked = PythonAllocator(allocator) if is_external else None
        self._chooses_slots = chooses_slots(allocator)
        self._filled: ProblemState | None = None

    def fill(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        behind: Sequence[WaitingJob] | None = None,
    ) -> ProblemState:
        """Fill the core's state from a problem, reusing the previous state if it fits.

        Parameters
        ----------
        behind
            The same jobs in the order behind the head job; None: the same order.
        """
        slot_map = problem.slot_map if self._chooses_slots else None
        # States are reused, since making their arrays takes longer than deciding most rounds.
        filled = self._filled
        if filled is None or filled.system is not problem.system or filled.slot_map is not slot_map:
            scarce = scarce_resource_mask(problem.system, self._allocator)
            choices = Choices(self._rule, allocator=self._in_core, scarce=scarce, **self._options)
            filled = self._filled = ProblemState(problem.system, slot_map, choices)
        filled.fill(problem, order, behind)
        return filled

    def decide(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob], *, explains: bool = False
    ) -> None:
        """Decide the problem of the last `fill`."""
        with self._asking(problem, order) as allocator:
            self._filled_state.decide(allocator, explains)

    def start_beside_plan(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        starting: int,
        planned: int,
    ) -> None:
        """Start planned jobs, and others that delay none of them; see `decide`.

        The first `planned` jobs have a planned start, the first `starting` of them now.
        """
        with self._asking(problem, order) as allocator:
            self._filled_state.start_beside_plan(allocator, starting, planned)

    @property
    def _filled_state(self) -> _core.State:
        assert self._filled is not None
        return self._filled.state

    @contextmanager
    def _asking(
        self, problem: DispatchingProblem, order: Sequence[WaitingJob]
    ) -> Iterator[PythonAllocator | None]:
        """Give the allocator that the core asks; None where it places jobs itself."""
        if self._asked is None:
            yield None
            return
        with self._asked.about(problem, order):
            yield self._asked


def starts_of(order: Sequence[WaitingJob], filled: ProblemState) -> tuple[Start, ...]:
    """Return the starts that the core decided, in their order."""
    return tuple([Start(order[row].job_id, where) for row, where in filled.started()])
