"""The workspace for any mix of requests: availability per node and resource type.

A reservation here is of room on nodes, not of a number: units that fit in number may still not fit
on nodes, because a node's resources are divided among them.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room, fill
from hpcsched.dispatching.heuristic.pooled import PooledProfile
from hpcsched.dispatching.heuristic.releases import (
    End,
    Releases,
    available_at,
    releases_of,
    units_gained,
)
from hpcsched.dispatching.heuristic.shapes import Shape, ShapeKey, shape_key, shape_of
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.space import NodeSpace, held_amounts, units_that_fit
from hpcsched.system.system import IntArray

if TYPE_CHECKING:
    from hpcsched.dispatching.heuristic.node_profile import NodeProfile


class NodeWorkspace:
    """Availability now, `[R, N]`, with the units that fit remembered per shape of request."""

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        self.problem = problem
        self.allocator = allocator
        self.space = NodeSpace(problem.system, problem.free_amounts)
        self.started: list[tuple[WaitingJob, NodeAllocation]] = []
        self._fits: dict[ShapeKey, tuple[IntArray, int]] = {}
        self._shapes: dict[ShapeKey, Shape] = {}

    def units_that_fit(self, job: WaitingJob) -> tuple[IntArray, int]:
        """Return how many of the job's units fit on each node now, `[N]`, and their sum."""
        key = shape_key(job.job)
        known = self._fits.get(key)
        if known is None:
            fits = units_that_fit(self.problem.system, self.space.available, job.job)
            known = self._fits[key] = fits, int(fits.sum())
        return known

    def shape(self, job: WaitingJob) -> Shape:
        """Return the job's shape."""
        key = shape_key(job.job)
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = shape_of(self.problem.system, job.job)
        return known

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be placed now."""
        return job.units <= self.units_that_fit(job)[1]

    def fitting(self, jobs: Iterable[WaitingJob]) -> list[WaitingJob]:
        """Return those of the jobs that could be placed now, each by itself."""
        return [job for job in jobs if self.fits(job)]

    def place(self, job: WaitingJob) -> NodeAllocation:
        """Start the job now, where the allocator says."""
        return self.place_on(
            job, self.choose(job, self.units_that_fit(job)[0], self.space.available)
        )

    def choose(self, job: WaitingJob, fits: IntArray, available: IntArray) -> NodeAllocation:
        """Return where the allocator would start the job, without starting it.

        `fits`, `[N]`, is how many of its units may go on each node, and `available`, `[R, N]`, what
        is free for it there.
        """
        problem = self.problem
        room = Room(fits, available, job.unit_request, problem.system, problem)
        return self.allocator.allocate(job.units, room)

    def place_on(self, job: WaitingJob, allocation: NodeAllocation) -> NodeAllocation:
        """Start the job now, at a given place."""
        self.space.claim(allocation, job.job)
        self._fits.clear()
        self.started.append((job, allocation))
        return allocation

    def releases(self) -> Releases:
        """Return what comes free if jobs end as predicted."""
        now = self.problem.now
        ends: list[End] = [
            (running.predicted_end_time, running.allocation, running.waiting.job)
            for running in self.problem.running
        ]
        ends += [(now + job.predicted_run_time, where, job.job) for job, where in self.started]
        return releases_of(self.problem.system, ends)

    def shadow(self, head: WaitingJob) -> "NodeShadow":
        """Reserve room for a head job that does not fit now."""
        return NodeShadow(self, head)

    def profile(self) -> "NodeProfile | PooledProfile":
        """Return what is free from now on: units, where all that wait ask alike, or amounts.

        Units of one shape can be counted, whatever runs: on each node more and more of them fit
        as running jobs end, so that units which are placed in order of their start times never
        conflict as long as no instant needs more of them than there are (see `pooled`). Exclusive
        jobs are the exception, as what they take depends on how they are placed.
        """
        queue = self.problem.queue
        key = shape_key(queue[0].job)
        if not queue[0].job.exclusive and all(shape_key(job.job) == key for job in queue):
            return PooledProfile(AlikeUnits(self, queue[0]))
        # Plans are compiled code, whose import takes longer than many a run.
        from hpcsched.dispatching.heuristic.node_profile import NodeProfile  # noqa: PLC0415

        return NodeProfile(self)


class AlikeUnits:
    """The units of one shape that fit on the nodes."""

    def __init__(self, workspace: NodeWorkspace, job: WaitingJob) -> None:
        self.problem = workspace.problem
        self.free = workspace.units_that_fit(job)[1]
        self._workspace = workspace
        self._shape = workspace.shape(job)

    def ends(self) -> Iterable[tuple[int, int]]:
        """Return when room comes free for how many more units, by time."""
        workspace = self._workspace
        releases = workspace.releases()
        gained = units_gained(self.problem.system, workspace.space.available, releases, self._shape)
        return zip(releases.times.tolist(), gained.tolist(), strict=True)

    def place(self, job: WaitingJob) -> NodeAllocation:
        """Start the job now."""
        return self._workspace.place(job)


class NodeShadow:
    """A head job's shadow time, and what is free then, `[R, N]`, the head job not yet placed.

    The head job keeps the choice of its nodes: a job that runs past the shadow time is started if
    enough of the head job's units still fit beside it, where the allocator puts it or where it
    costs the head job little.
    """

    def __init__(self, workspace: NodeWorkspace, head: WaitingJob) -> None:
        self._workspace = workspace
        self._head = head
        problem, available = workspace.problem, workspace.space.available
        self._releases = releases = workspace.releases()
        gained = units_gained(problem.system, available, releases, workspace.shape(head))
        fit = np.concatenate(([workspace.units_that_fit(head)[1]], gained)).cumsum()
        enough = min(int(fit.searchsorted(head.units)), len(gained))
        self._reserve_at(int(releases.times[enough - 1]) if enough else problem.now)

    def postpone(self, time: int) -> None:
        """Move the reservation to a later time, before anything is started beside it."""
        self._reserve_at(time)

    def _reserve_at(self, time: int) -> None:
        workspace, head = self._workspace, self._head
        self.time = time
        self._available = available_at(time, workspace.space.available, self._releases)
        self._fits = units_that_fit(workspace.problem.system, self._available, head.job)
        self._spare = int(self._fits.sum()) - head.units

    def backfill(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if it ends by the shadow time, or leaves the head job room then."""
        workspace = self._workspace
        if not workspace.fits(job):
            return None
        if workspace.problem.now + job.predicted_run_time <= self.time:
            return workspace.place(job)
        fits = workspace.units_that_fit(job)[0]
        for allocation in (
            workspace.choose(job, fits, workspace.space.available),
            self._least_loss(job, fits),
        ):
            nodes, left, loss = self._beside(job, allocation)
            if loss.sum() <= self._spare:
                self._available[:, nodes] = left
                self._fits[nodes] -= loss
                self._spare -= int(loss.sum())
                return workspace.place_on(job, allocation)
        return None

    def _beside(
        self, job: WaitingJob, allocation: NodeAllocation
    ) -> tuple[list[int], IntArray, IntArray]:
        """Return an allocation's nodes, what it leaves free there, and the head units it costs."""
        system = self._workspace.problem.system
        nodes, amounts = held_amounts(system, allocation, job.job)
        left = self._available.copy()
        left[:, nodes] -= amounts
        fits = units_that_fit(system, left, self._head.job)
        return nodes, left[:, nodes], self._fits[nodes] - fits[nodes]

    def _least_loss(self, job: WaitingJob, fits: IntArray) -> NodeAllocation:
        """Return a placement that costs the head job little.

        First come the units that cost it nothing, since they fit beside all of its units that a
        node could hold; then, node by node, those that cost least for each unit.
        """
        system = self._workspace.problem.system
        nodes = np.flatnonzero(self._fits)
        head_everywhere = NodeAllocation(tuple(nodes.tolist()), tuple(self._fits[nodes].tolist()))
        beside_head = self._available.copy()
        beside_head[:, nodes] -= held_amounts(system, head_everywhere, self._head.job)[1]
        placed = np.minimum(fits, units_that_fit(system, beside_head, job.job))
        missing = job.units - int(placed.sum())
        if missing <= 0:
            return fill(job.units, placed)

        left = np.flatnonzero(fits)
        everywhere = NodeAllocation(tuple(left.tolist()), tuple(fits[left].tolist()))
        cost = np.zeros(len(fits))
        cost[left] = self._beside(job, everywhere)[2] / fits[left]
        rest = fill(missing, fits - placed, np.argsort(cost, kind="stable"))
        placed[list(rest.nodes)] += rest.units
        used = np.flatnonzero(placed)
        return NodeAllocation(tuple(used.tolist()), tuple(placed[used].tolist()))
