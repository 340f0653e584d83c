"""The workspace for any mix of requests: availability per node and resource type.

A reservation here is of room on nodes, not of a number: units that fit in number may still not fit
on nodes, because a node's resources are divided among them.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from hpcsched.dispatching.allocator import Allocator, Room, fill
from hpcsched.dispatching.heuristic.pool_profile import PoolProfile
from hpcsched.dispatching.heuristic.pooled import PooledProfile
from hpcsched.dispatching.heuristic.releases import available_at, units_gained
from hpcsched.dispatching.planning.releases import End, Releases, releases_of
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.shapes import Shape, shape_of
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.outages import Outage
from hpcsched.system.pool_draws import Amounts, most_draw, node_draw, own_draw
from hpcsched.system.pools import NEVER
from hpcsched.system.request import ShapeKey, shape_key
from hpcsched.system.space import NodeSpace, held_amounts, units_that_fit
from hpcsched.system.system import IntArray

if TYPE_CHECKING:
    from hpcsched.dispatching.heuristic.node_profile import NodeProfile


class NodeWorkspace:
    """Availability now, `[R, N]`, with the units that fit remembered per shape of request.

    `pools` is what is free of the system's pools beside what runs and was started; None where there
    are none. A job fits if its units find room on nodes, and pools have enough until its end.
    """

    def __init__(self, problem: DispatchingProblem, allocator: Allocator) -> None:
        self.problem = problem
        self.allocator = allocator
        self.space = NodeSpace(problem.system, problem.free_amounts)
        self.started: list[tuple[WaitingJob, NodeAllocation]] = []
        self._fits: dict[ShapeKey, tuple[IntArray, int]] = {}
        self._shapes: dict[ShapeKey, Shape] = {}
        self.pools = PoolProfile(problem) if problem.system.pools else None
        self._draws: dict[int, Amounts] = {}
        # Until when nodes on which jobs run are switched on, running jobs in order of their ends.
        self._on_until: dict[int, int] = {}
        if self.pools is not None:
            for running in problem.running:
                self._on_until.update(
                    dict.fromkeys(running.allocation.nodes, running.predicted_end_time)
                )

    def units_that_fit(self, job: WaitingJob) -> tuple[IntArray, int]:
        """Return how many of the job's units fit on each node now, `[N]`, and their sum."""
        key = shape_key(job.request)
        known = self._fits.get(key)
        if known is None:
            fits = units_that_fit(self.problem.system, self.space.available, job.request)
            known = self._fits[key] = fits, int(fits.sum())
        return known

    def shape(self, job: WaitingJob) -> Shape:
        """Return the job's shape."""
        key = shape_key(job.request)
        known = self._shapes.get(key)
        if known is None:
            known = self._shapes[key] = shape_of(self.problem.system, job.request)
        return known

    def fits(self, job: WaitingJob) -> bool:
        """Say whether the job could be placed now."""
        fits = job.units <= self.units_that_fit(job)[1]
        return fits and (self.pools is None or self.lacking(job) is None)

    def draw(self, job: WaitingJob) -> Amounts:
        """Return what the job draws from pools at most, `[P]`."""
        known = self._draws.get(job.job_id)
        if known is None:
            known = self._draws[job.job_id] = most_draw(self.problem.system, job.request)
        return known

    def stretches(
        self, job: WaitingJob, allocation: NodeAllocation
    ) -> list[tuple[int, int, Amounts]]:
        """Return from when to when a job that starts there now draws how much, `[P]`.

        A node that is on already draws more only from when it would have been switched off.
        """
        system, now = self.problem.system, self.problem.now
        end = now + job.predicted_run_time
        nodes = Counter(self._on_until.get(node, now) for node in allocation.nodes)
        per_node = node_draw(system)
        return [
            (now, end, own_draw(system, job.request)),
            *(
                (begin, end, tuple(amount * count for amount in per_node))
                for begin, count in nodes.items()
                if begin < end
            ),
        ]

    def lacking(self, job: WaitingJob) -> str | None:
        """Return the name of a pool that has too little for the job, from now to its end."""
        if self.pools is None:
            return None
        now = self.problem.now
        return self.pools.lacking(now, now + job.predicted_run_time, self.draw(job))

    def short_of(self, job: WaitingJob) -> str:
        """Return what the job lacks where nodes have room for it: `pool NAME`; empty otherwise."""
        if job.units > self.units_that_fit(job)[1]:
            return ""
        pool = self.lacking(job)
        return "" if pool is None else f"pool {pool}"

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
        self.space.claim(allocation, job.request)
        if self.pools is not None:
            for stretch in self.stretches(job, allocation):
                self.pools.take(*stretch)
            for node in allocation.nodes:
                end = self.problem.now + job.predicted_run_time
                self._on_until[node] = max(self._on_until.get(node, 0), end)
        self._fits.clear()
        self.started.append((job, allocation))
        return allocation

    def releases(self) -> Releases:
        """Return what comes free if jobs end as predicted."""
        now = self.problem.now
        ends: list[End] = [
            (running.predicted_end_time, running.allocation, running.waiting.request)
            for running in self.problem.running
        ]
        ends += [(now + job.predicted_run_time, where, job.request) for job, where in self.started]
        return releases_of(self.problem.system, ends)

    def outages_ahead(self) -> list[Outage]:
        """Return the announced outages that plans of this round may come to, by their start.

        Those further off than the last release and the longest job after it are left out: plans
        that reach so far are worth little, and there may be many.
        """
        problem = self.problem
        if not problem.outages:
            return []
        last = max((job.predicted_end_time for job in problem.running), default=problem.now)
        longest = max(job.predicted_run_time for job in problem.queue)
        until = last + longest
        return [outage for outage in problem.outages if problem.now < outage.start < until]

    def shadow(self, head: WaitingJob) -> "NodeShadow":
        """Reserve room for a head job that does not fit now."""
        return NodeShadow(self, head)

    def profile(self) -> "NodeProfile | PooledProfile":
        """Return what is free from now on: units, where all that wait ask alike, or amounts.

        Units of one shape can be counted, whatever runs: on each node more and more of them fit
        as running jobs end, so that units which are placed in order of their start times never
        conflict as long as no instant needs more of them than there are (see `pooled`). Exclusive
        jobs are the exception, as what they take depends on how they are placed; scattered jobs,
        as a unit of one leaves room beside it for units of others; and so is the time before an
        outage, when fewer and fewer fit.
        """
        problem, queue = self.problem, self.problem.queue
        key, first = shape_key(queue[0].request), queue[0].request
        unlike = first.exclusive or first.scatter
        counts = not (unlike or problem.system.pools or self.outages_ahead())
        if counts and all(shape_key(job.request) == key for job in queue):
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
    costs the head job little. Of nodes that an announced outage takes from the head job, nothing is
    free at its shadow time.
    """

    def __init__(self, workspace: NodeWorkspace, head: WaitingJob) -> None:
        self._workspace = workspace
        self._head = head
        problem, available = workspace.problem, workspace.space.available
        self._releases = releases = workspace.releases()
        gained = units_gained(problem.system, available, releases, workspace.shape(head))
        fit = np.concatenate(([workspace.units_that_fit(head)[1]], gained)).cumsum()
        enough = min(int(fit.searchsorted(head.units)), len(gained))
        time = int(releases.times[enough - 1]) if enough else problem.now
        self._outages = workspace.outages_ahead()
        time = self._first_in_service(time)
        while workspace.pools is not None:
            # But for outages nodes only gain room: the first time that pools allow is right, too.
            later = workspace.pools.earliest(time, head.predicted_run_time, workspace.draw(head))
            if later == NEVER or self._first_in_service(later) == later:
                time = later
                break
            time = self._first_in_service(later)
        self._reserve_at(time)

    def postpone(self, time: int) -> None:
        """Move the reservation to a later time, before anything is started beside it.

        It stays where it is if a pool has too little from the later time on, or too few nodes are
        in service.
        """
        if self.time == NEVER or not self._pools_suffice_at(time):
            return
        if self._first_in_service(time) == time:
            self._reserve_at(time)

    def _first_in_service(self, time: int) -> int:
        """Return when the head job first fits on nodes that stay in service for it.

        That is at a time, from which on it fits if there are no outages, or at a later one. Once
        all are over that are looked at, all that comes free is there.
        """
        if not self._outages:
            return time
        system, head = self._workspace.problem.system, self._head
        ends = {outage.end for outage in self._outages}
        for candidate in sorted({time, *self._releases.times.tolist(), *ends}):
            if candidate >= time:
                fits = units_that_fit(system, self._free_at(candidate), head.request)
                if fits.sum() >= head.units:
                    return int(candidate)
        return time

    def _free_at(self, time: int) -> IntArray:
        """Return what is free for the head job from a time on, `[R, N]`."""
        available = available_at(time, self._workspace.space.available, self._releases)
        for outage in self._outages:
            if outage.end > time and outage.start - time < self._head.predicted_run_time:
                available[:, list(outage.nodes)] = 0
        return available

    def _pools_suffice_at(self, time: int) -> bool:
        """Say whether pools have enough for the head job at a time, beside what was started."""
        workspace, head = self._workspace, self._head
        if workspace.pools is None or time == NEVER:  # one that cannot run delays nobody
            return True
        end = time + head.predicted_run_time
        return workspace.pools.fits(time, end, workspace.draw(head))

    def _reserve_at(self, time: int) -> None:
        workspace, head = self._workspace, self._head
        self.time = time
        self._available = self._free_at(time)
        self._fits = units_that_fit(workspace.problem.system, self._available, head.request)
        self._spare = int(self._fits.sum()) - head.units

    def backfill(self, job: WaitingJob) -> NodeAllocation | None:
        """Start the job now if it ends by the shadow time, or leaves the head job room then."""
        workspace = self._workspace
        if not workspace.fits(job):
            return None
        if workspace.problem.now + job.predicted_run_time <= self.time:
            return workspace.place(job)
        if not self._leaves_pools_to_head(job):
            return None
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

    def _leaves_pools_to_head(self, job: WaitingJob) -> bool:
        """Say whether pools have enough for the head job at its time if a job starts now."""
        workspace = self._workspace
        if workspace.pools is None:
            return True
        now, draw = workspace.problem.now, workspace.draw(job)
        end = now + job.predicted_run_time
        workspace.pools.take(now, end, draw)
        leaves = self._pools_suffice_at(self.time)
        workspace.pools.give_back(now, end, draw)
        return leaves

    def _beside(
        self, job: WaitingJob, allocation: NodeAllocation
    ) -> tuple[list[int], IntArray, IntArray]:
        """Return an allocation's nodes, what it leaves free there, and the head units it costs."""
        system = self._workspace.problem.system
        nodes, amounts = held_amounts(system, allocation, job.request)
        left = self._available.copy()
        left[:, nodes] -= amounts
        if self._outages:
            # What a job holds of nodes that are not the head job's anyway costs it nothing.
            left = np.maximum(left, 0)
        fits = units_that_fit(system, left, self._head.request)
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
        beside_head[:, nodes] -= held_amounts(system, head_everywhere, self._head.request)[1]
        placed = np.minimum(fits, units_that_fit(system, beside_head, job.request))
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
