"""The workspace for any mix of requests: availability per node and resource type.

A reservation here is of room on nodes, not of a number: units that fit in number may still not fit
on nodes, because a node's resources are divided among them.
"""

from collections.abc import Iterable

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room, fill
from hpcsched.dispatching.heuristic.timeline import End, Timeline
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.space import NodeSpace, held_amounts, units_that_fit
from hpcsched.system.system import IntArray

_Shape = tuple[tuple[int, ...], frozenset[str] | None, frozenset[int] | None, bool]
"""All of a job that decides how many of its units fit on a node."""


class NodeWorkspace:
    """Availability now, `[R, N]`, with the units that fit remembered per shape of request."""

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        self.problem = problem
        self.allocator = allocator
        self.space = NodeSpace(problem.system, problem.free_amounts)
        self.started: list[tuple[WaitingJob, NodeAllocation]] = []
        self._fits: dict[_Shape, tuple[IntArray, int]] = {}

    def units_that_fit(self, job: WaitingJob) -> tuple[IntArray, int]:
        """Return how many of the job's units fit on each node now, `[N]`, and their sum."""
        asked = job.job
        shape = asked.unit_request, asked.node_groups, asked.allowed_nodes, asked.exclusive
        known = self._fits.get(shape)
        if known is None:
            fits = units_that_fit(self.problem.system, self.space.available, job.job)
            known = self._fits[shape] = fits, int(fits.sum())
        return known

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be placed now."""
        return job.units <= self.units_that_fit(job)[1]

    def fitting(self, jobs: Iterable[WaitingJob]) -> list[WaitingJob]:
        """Return those of the jobs that could be placed now, each by itself."""
        return [job for job in jobs if self.fits(job)]

    def place(self, job: WaitingJob) -> NodeAllocation:
        """Start the job now, where the allocator says."""
        return self.place_on(job, self.choose(job, self.units_that_fit(job)[0]))

    def choose(self, job: WaitingJob, fits: IntArray) -> NodeAllocation:
        """Return where the allocator would start the job, without starting it."""
        problem = self.problem
        room = Room(fits, self.space.available, job.unit_request, problem.system, problem)
        return self.allocator.allocate(job.units, room)

    def place_on(self, job: WaitingJob, allocation: NodeAllocation) -> NodeAllocation:
        """Start the job now, at a given place."""
        self.space.claim(allocation, job.job)
        self._fits.clear()
        self.started.append((job, allocation))
        return allocation

    def timeline(self) -> Timeline:
        """Return what is free from now on if jobs end as predicted and nothing else starts."""
        now = self.problem.now
        ends: list[End] = [
            (running.predicted_end_time, running.allocation, running.waiting.job)
            for running in self.problem.running
        ]
        ends += [(now + job.predicted_run_time, where, job.job) for job, where in self.started]
        return Timeline.of_ends(self.problem.system, now, self.space.available, ends)

    def shadow(self, head: WaitingJob) -> "NodeShadow":
        """Reserve room for a head job that does not fit now."""
        return NodeShadow(self, head)

    def profile(self) -> "NodeProfile":
        """Return what is free on each node from now on."""
        return NodeProfile(self)


class NodeShadow:
    """A head job's shadow time, and what is free then, `[R, N]`, the head job not yet placed.

    The head job keeps the choice of its nodes: a job that runs past the shadow time is started if
    enough of the head job's units still fit beside it, where the allocator puts it or where it
    costs the head job little.
    """

    def __init__(self, workspace: NodeWorkspace, head: WaitingJob) -> None:
        self._workspace = workspace
        self._head = head
        timeline = workspace.timeline()
        for self.time, self._available in zip(timeline.times, timeline.available, strict=True):
            self._fits = units_that_fit(timeline.system, self._available, head.job)
            self._spare = int(self._fits.sum()) - head.units
            if self._spare >= 0:
                break

    def backfill(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if it ends by the shadow time, or leaves the head job room then."""
        workspace = self._workspace
        if not workspace.fits(job):
            return None
        if workspace.problem.now + job.predicted_run_time <= self.time:
            return workspace.place(job)
        fits = workspace.units_that_fit(job)[0]
        for allocation in (workspace.choose(job, fits), self._least_loss(job, fits)):
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


class NodeProfile:
    """What is free on each node from now on, given predicted ends and reservations.

    A reservation is made where room stays free for the whole predicted run time. Where there is
    enough at each instant, only not on the same nodes throughout, the reservations are placed anew,
    in order of their starts: plans bind the nodes of no job that has not started.
    """

    def __init__(self, workspace: NodeWorkspace) -> None:
        self._workspace = workspace
        self._now = workspace.problem.now
        self._started = workspace.timeline()
        self._planned = self._started.copy()
        self._reservations: list[tuple[int, WaitingJob]] = []

    def start_now(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if its room stays free until its predicted end."""
        if not self._workspace.fits(job):
            return None
        allocation = self._find(self._now, job)
        if allocation is None:
            return None
        end = self._now + job.predicted_run_time
        self._started.take(self._now, end, allocation, job.job)
        return self._workspace.place_on(job, allocation)

    def reserve(self, job: WaitingJob) -> int:
        """Reserve room at the earliest time that it is found for the predicted run time."""
        for start in self._planned.starts(job.job, job.predicted_run_time):
            if self._find(start, job) is not None:
                self._reservations.append((start, job))
                return start
        raise ValueError(f"job {job.job_id} does not fit on the system")

    def _find(self, start: int, job: WaitingJob) -> NodeAllocation | None:
        """Return room for the job from a start on, taken from the plan; None if there is none."""
        end = start + job.predicted_run_time
        allocation = self._allocate(job, self._planned.lowest(start, end))
        if allocation is not None:
            self._planned.take(start, end, allocation, job.job)
            return allocation
        if self._reservations and start in self._planned.starts(job.job, job.predicted_run_time):
            return self._place_anew(start, job)
        return None

    def _place_anew(self, start: int, job: WaitingJob) -> NodeAllocation | None:
        """Place all reservations and the job in order of their starts; None if one fails."""
        plan = self._started.copy()
        found = None
        for time, planned in sorted([*self._reservations, (start, job)], key=lambda r: r[0]):
            end = time + planned.predicted_run_time
            allocation = self._allocate(planned, plan.at(time))
            if allocation is None:
                return None
            plan.take(time, end, allocation, planned.job)
            if planned is job:
                found = allocation
        self._planned = plan
        return found

    def _allocate(self, job: WaitingJob, available: IntArray) -> NodeAllocation | None:
        """Return where the allocator puts the job in what is free, `[R, N]`; None if nowhere."""
        system = self._planned.system
        fits = units_that_fit(system, available, job.job)
        if fits.sum() < job.units:
            return None
        return self._workspace.allocator.allocate(
            job.units, Room(fits, available, job.unit_request, system)
        )
