"""Working copy of the free capacity of a dispatching round."""

from typing import Any

import numpy as np

from hpcsched._core import Choices, Rule
from hpcsched.dispatching.allocator import Allocator, Room, placed_by, slots_taken_by
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.core_calls import ProblemState
from hpcsched.system.space import Allocation, NodeSpace, SlotAllocation, SlotSpace, units_that_fit
from hpcsched.system.system import IntArray, ShapeKey, shape_key


class RoundSharedResources:
    """Free amounts of shared resources from now on, reduced by every job that starts."""

    def __init__(self, problem: DispatchingProblem) -> None:
        self._problem = problem
        # No round is decided on this state: the rule is a placeholder.
        filled = ProblemState(problem.system, None, Choices(Rule.GREEDY))
        filled.fill(problem, problem.queue, None)
        self._row_of = {job.job_id: row for row, job in enumerate(problem.queue)}
        self._state = filled.state
        self._state.open_shared()

    def lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a shared resource that is short for a queued job, or None.

        Returns
        -------
        str | None
            A shared resource that offers too little between now and the job's predicted end, or
            None.
        """
        resource = self._state.short_resource(self._row_of[job.job_id], self._problem.now)
        return None if resource == -1 else self._problem.system.shared_resources[resource].name

    def start(self, job: WaitingJob, allocation: Allocation) -> None:
        """Subtract the draw of a queued job that starts now."""
        placed = np.zeros(self._problem.system.node_count, dtype=np.int64)
        placed[list(allocation.nodes)] = allocation.units
        self._state.draw_for_start(self._row_of[job.job_id], placed)


class Workspace:
    """Free capacity in a dispatching round, reduced by every job that is placed.

    A job fits if its units fit, on slots where these are counted and otherwise on nodes, and if
    shared resources suffice until its predicted end.
    """

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        self._problem = problem
        self._allocator = allocator
        # Set for a `SlotAllocator`; checking against the protocol would take longer than a round.
        self._slots: Any = allocator if hasattr(allocator, "allocate_slots") else None
        self._space: NodeSpace | SlotSpace
        if problem.slot_map is None:
            self._space = NodeSpace(problem.system, problem.free_amounts)
        else:
            self._space = SlotSpace(problem.slot_map, problem.free_slots)
        self._fits: dict[ShapeKey, tuple[IntArray, int]] = {}
        self._shared_resources = (
            RoundSharedResources(problem) if problem.system.shared_resources else None
        )

    def units_that_fit(self, job: WaitingJob) -> int:
        """Return how many units of the job fit now, regardless of its draw from shared resources.

        Returns
        -------
        int
            Number of units, possibly above the job's own.
        """
        if isinstance(self._space, SlotSpace):
            return self._space.count
        return self._on_nodes(job, self._space)[1]

    def fits(self, job: WaitingJob) -> bool:
        """Check whether the job could be placed now.

        Returns
        -------
        bool
            Whether nodes or slots, and shared resources, suffice.
        """
        return job.units <= self.units_that_fit(job) and self._lacking(job) is None

    def short_of(self, job: WaitingJob) -> str:
        """Return a shared resource that is short for a job, in words: `shared resource NAME`.

        Returns
        -------
        str
            The text; empty if its units do not fit, or no shared resource is short.
        """
        resource = self._lacking(job) if job.units <= self.units_that_fit(job) else None
        return "" if resource is None else f"shared resource {resource}"

    def place(self, job: WaitingJob) -> Allocation:
        """Place the job now, on nodes of the allocator's choice.

        Parameters
        ----------
        job
            A job of the problem's queue, which must fit.
        """
        space = self._space
        if isinstance(space, SlotSpace) and self._slots is not None:
            space.count -= job.units
            taken = slots_taken_by(self._slots, job.units, space.free)
            return SlotAllocation(tuple(taken), space.slot_map)
        chosen = placed_by(self._allocator, job.units, self._room_for(job))
        allocation = space.claim(chosen, job.request)
        # Counts of other shapes change with every start.
        self._fits.clear()
        if self._shared_resources is not None:
            self._shared_resources.start(job, allocation)
        return allocation

    def _lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a shared resource with too little until the job's end, or None."""
        return None if self._shared_resources is None else self._shared_resources.lacking(job)

    def _on_nodes(self, job: WaitingJob, space: NodeSpace) -> tuple[IntArray, int]:
        """Return the number of the job's units that fit on each node now, `[N]`, and their sum."""
        key = shape_key(job.request)
        known = self._fits.get(key)
        if known is None:
            fits = units_that_fit(space.system, space.available, job.request)
            known = self._fits[key] = fits, int(fits.sum())
        return known

    def _room_for(self, job: WaitingJob) -> Room:
        """Return the free capacity that the allocator may use for a job."""
        system, space = self._problem.system, self._space
        if isinstance(space, NodeSpace):
            fits, available = self._on_nodes(job, space)[0], space.available
        else:
            fits = space.free_per_node()
            used = np.multiply.outer(np.array(job.unit_request), space.slot_map.per_node - fits)
            available = system.capacity.T - used
        return Room(fits, available, job.unit_request, system, self._problem)


def open_workspace(problem: DispatchingProblem, allocator: Allocator) -> Workspace:
    """Return a workspace without any placed job."""
    return Workspace(problem, allocator)
