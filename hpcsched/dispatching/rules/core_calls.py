"""Calls of the core for single problems, and workspaces of dispatchers."""

from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np

from hpcsched import _core
from hpcsched._core import NEVER, Choices, Limits, Rule
from hpcsched.dispatching.allocator import Allocator, Room, placed_by
from hpcsched.dispatching.core_state import OwnDraws, RequestShapes, announce, new_state, numbers
from hpcsched.dispatching.decision import Start
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob
from hpcsched.dispatching.rules.allocators import kind_in_core, scarce_in
from hpcsched.dispatching.rules.device_allocators import NO_SCORES, ScoreAllocator
from hpcsched.errors import Finding, InputError
from hpcsched.system.outages import Outage
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray, Request, ShapeKey, System, shape_key

_of_waiting = itemgetter(
    *map(WaitingJob._fields.index, ("predicted_run_time", "units", "expected_run_time"))
)
_of_running = itemgetter(*map(RunningJob._fields.index, ("predicted_end_time", "units")))

_SPARE = 1024
"""Number of shapes that may be cached beyond those of a problem."""


class ProblemState:
    """The core's state of one problem after another, under a rule.

    Attributes
    ----------
    problem
        The problem that was filled in last.
    order
        Its queued jobs as they are considered: those of the first rows of the state.
    """

    def __init__(self, rule: Rule, allocator: Allocator, **options: Any) -> None:
        self._rule, self._allocator, self._options = rule, allocator, options
        self._system: System | None = None
        self._limited = False
        self._numbers: dict[ShapeKey, int] = {}

    def _begin(self, system: System) -> None:
        """Begin with a new state, which knows no shapes.

        Raises
        ------
        InputError
            If the allocator scores nodes: single problems do not tell enough.
        """
        if isinstance(self._allocator, ScoreAllocator):
            raise InputError(Finding("no-devices", NO_SCORES, key="dispatcher"))
        allocator, scarce = kind_in_core(self._allocator), scarce_in(system, self._allocator)
        choices = Choices(self._rule, allocator=allocator, scarce=scarce, **self._options)
        self.state, self._system = new_state(system, choices), system
        self._shapes, self._own_draws = RequestShapes(system), OwnDraws(system)
        self._outages: tuple[Outage, ...] = ()
        self._numbers = {}

    def fill(
        self,
        problem: DispatchingProblem,
        order: Sequence[WaitingJob],
        behind: Sequence[WaitingJob] | None = None,
    ) -> None:
        """Write a problem into the state.

        Parameters
        ----------
        behind
            The same jobs in the order behind the head job; None: the same order.
        """
        self.problem, self.order, running = problem, order, problem.running
        check_known_devices(problem)
        most = 2 * (len(order) + len(running)) + _SPARE
        # States are reused, since making their arrays takes longer than deciding most rounds.
        if problem.system is not self._system or len(self._numbers) > most:
            self._begin(problem.system)
        if problem.outages != self._outages:
            self._outages = problem.outages
            announce(self.state, problem.outages)
        row_of = {} if behind is None else {job.job_id: row for row, job in enumerate(order)}
        self.state.fill(
            problem.now,
            _rows(_of_waiting, order, 3),
            _rows(_of_running, running, 2),
            numbers([row_of[job.job_id] for job in behind or ()]),
        )
        requests = [job.request for job in order]
        requests += [job.waiting.request for job in running]
        later = later_requests(problem, order) if problem.outages else ()
        if problem.free_units is None:
            shapes = self._shapes_of([*requests, *later])
        else:
            shapes = self._shapes_of(requests[:1]).repeat(len(requests))
        places = [job.allocation.places for job in running]
        flat = numbers(chain.from_iterable(chain.from_iterable(places))).reshape(-1, 3).T
        nodes, units, devices = np.ascontiguousarray(flat)
        self.state.fill_nodes(
            shapes[: len(requests)],
            numbers([len(place) for place in places]),
            nodes,
            units,
            devices,
            problem.free_amounts,
        )
        if later:
            self.set_jobs("later", shapes[len(requests) :].tolist())
        if problem.system.shared_resources:
            self.state.fill_draws(self._own_draws.of(requests))
        if problem.limits is not None or self._limited:
            self._limited = problem.limits is not None
            self.state.limits = Limits() if problem.limits is None else problem.limits.core
        if problem.limits is not None:
            self.set_jobs("limits", [problem.limits.sets[job.job_id] for job in order])
            self.set_jobs("requested_time", [job.job.requested_time for job in order])

    def _shapes_of(self, requests: Sequence[Request]) -> IntArray:
        """Return the shapes of requests; those that are new are added."""
        new, found = [], []
        for request in requests:
            key = shape_key(request)
            number = self._numbers.get(key)
            if number is None:
                number = self._numbers[key] = len(self._numbers)
                new.append(request)
            found.append(number)
        self._shapes.add(self.state, new)
        return numbers(found)

    def set_promises(self, promises: Mapping[int, int]) -> None:
        """Write the submit times of jobs, and the promised starts by job number, in seconds."""
        self.set_jobs("submit_time", [job.submit_time for job in self.order])
        self.set_jobs("promise", [promises.get(job.job_id, NEVER) for job in self.order])

    def set_owners(self) -> None:
        """Write the users and partitions of jobs."""
        owners = [(waiting.job.user, waiting.job.partition) for waiting in self.order]
        self.state.fill_owners(
            np.array([[-1 if n is None else n for n in of] for of in owners], dtype=np.int64)
        )

    def set_reservations(
        self, starts: Mapping[int, int], places: Mapping[int, NodeAllocation]
    ) -> None:
        """Write the reserved starts, in seconds, and allocations of jobs, by job number."""
        self.set_jobs("reserved", [starts.get(job.job_id, NEVER) for job in self.order])
        for row, job in enumerate(self.order):
            where = places.get(job.job_id)
            if where is not None:
                self.state.set_places(row, where.places)

    def set_jobs(self, name: str, values: Sequence[int]) -> None:
        """Write a number of each queued job."""
        self.state.set_jobs(name, np.arange(len(values)), numbers(values))

    def values(self, name: str) -> list[int]:
        """Return a number of each queued job."""
        found: list[int] = self.state.jobs(name, np.arange(len(self.order))).tolist()
        return found

    def column(self, name: str) -> dict[int, int]:
        """Return a number of each queued job by job number, leaving out `NEVER`."""
        pairs = zip(self.order, self.values(name), strict=True)
        return {job.job_id: value for job, value in pairs if value != NEVER}

    def reserved_places(self) -> dict[int, NodeAllocation]:
        """Return the reserved nodes of waiting jobs, if they have any, by number."""
        rows = enumerate(zip(self.order, self.values("waits"), strict=True))
        return {
            job.job_id: self.allocation(row)
            for row, (job, waits) in rows
            if waits and self.state.places(row)
        }

    def started(self) -> list[WaitingJob]:
        """Return the started jobs in order."""
        return [self.order[row] for row in self.state.started]

    def starts(self) -> tuple[Start, ...]:
        """Return the starts that the core decided, in their order."""
        rows = self.state.started
        return tuple([Start(self.order[row].job_id, self.allocation(row)) for row in rows])

    def allocation(self, row: int) -> NodeAllocation:
        """Return the nodes of a started job, or those reserved for it."""
        return NodeAllocation.of_places(self.state.places(row))

    @property
    def asked(self) -> "ProblemState | None":
        """The allocator that the core asks: None where it places jobs itself."""
        is_external = kind_in_core(self._allocator) is _core.Allocator.EXTERNAL
        return self if is_external else None

    def place(self, row: int, fits: IntArray, available: IntArray) -> IntArray:
        """Return the units that an allocator in Python puts on each node, `[N]`.

        Parameters
        ----------
        fits
            Number of units that each node can hold, `[N]`.
        available
            Free amount by resource type and node, `[R, N]`.
        """
        job, problem = self.order[row], self.problem
        room = Room(fits, available, job.unit_request, problem.system, problem)
        allocation = placed_by(self._allocator, job.units, room)
        placed = np.zeros(len(fits), dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        return placed


def check_known_devices(problem: DispatchingProblem) -> None:
    """Raise InputError if a running job has devices, and the problem does not say which."""
    devices = problem.system.devices
    if devices is None:
        return
    own = problem.system.resource_types.index(devices.resource_type)
    for job in problem.running:
        request = job.waiting.request
        asks = request.unit_request[own] and not request.exclusive
        if asks and not job.allocation.devices:
            message = f"the devices of job {job.job_id} are not known: they need a whole replay"
            raise InputError(Finding("no-devices", message, key="system"))


def later_requests(problem: DispatchingProblem, queue: Sequence[WaitingJob]) -> list[Request]:
    """Return the requests of queued jobs for later starts: also on nodes that outages take now."""
    found, known = [], dict[tuple[object, ...], Request]()
    for job in queue:
        own, now = job.job.request, job.request
        end = problem.now + job.predicted_run_time
        taken = sum(outage.start < end for outage in problem.outages)
        key = own.allowed_nodes, shape_key(now), taken
        if key not in known:
            back = {node for outage in problem.outages[:taken] for node in outage.nodes}
            whole = own.allowed_nodes or frozenset(range(problem.system.node_count))
            open_now = whole if now.allowed_nodes is None else now.allowed_nodes
            left = whole & back.union(open_now)
            known[key] = own if left == whole else own._replace(allowed_nodes=left)
        found.append(known[key])
    return found


def _rows(get: Callable[[Any], tuple[int, ...]], of: Sequence[Any], columns: int) -> IntArray:
    """Return some numbers of each object as an array, `[K, columns]`."""
    found = np.fromiter(chain.from_iterable(map(get, of)), np.int64, columns * len(of))
    return found.reshape(-1, columns)


class Workspace:
    """Free capacity in a dispatching round, reduced by every job that is placed.

    A job of the problem's queue fits if its units fit on nodes, and if shared resources suffice
    until its predicted end.
    """

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        # No round is decided on this state: the rule is a placeholder.
        self._filled = ProblemState(Rule.GREEDY, allocator)
        self._filled.fill(problem, problem.queue)
        self._filled.state.open_round()
        self._row_of = {job.job_id: row for row, job in enumerate(problem.queue)}

    def units_that_fit(self, job: WaitingJob) -> int:
        """Return how many units of the job fit now, regardless of its draw from shared resources.

        Returns
        -------
        int
            Number of units, possibly above the job's own.
        """
        return self._filled.state.room_now(self._row_of[job.job_id])

    def fits(self, job: WaitingJob) -> bool:
        """Check whether nodes and shared resources suffice to place the job now."""
        return job.units <= self.units_that_fit(job) and not self.lacking(job)

    def short_of(self, job: WaitingJob) -> str:
        """Return a shared resource that is short for a job, in words: `shared resource NAME`.

        Returns
        -------
        str
            The text; empty if its units do not fit, or no shared resource is short.
        """
        return self.lacking(job) if job.units <= self.units_that_fit(job) else ""

    def place(self, job: WaitingJob) -> NodeAllocation:
        """Place a job that fits now, on nodes of the allocator's choice."""
        row, filled = self._row_of[job.job_id], self._filled
        filled.state.start(filled.asked, row)
        return filled.allocation(row)

    def lacking(self, job: WaitingJob) -> str:
        """Return a shared resource with too little until the job's end, as `short_of`, or ""."""
        problem = self._filled.problem
        short = self._filled.state.short_resource(self._row_of[job.job_id], problem.now)
        shared = problem.system.shared_resources
        return "" if short == -1 else f"shared resource {shared[short].name}"


def open_workspace(problem: DispatchingProblem, allocator: Allocator) -> Workspace:
    """Return a workspace without any placed job."""
    return Workspace(problem, allocator)
