"""The workspace for any mix of requests: availability per node and resource type.

A reservation here is of room on nodes, not of a number: units that fit in number may still not fit
on nodes, because a node's resources are divided among them.
"""

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.heuristic.pool_profile import PoolProfile
from hpcsched.dispatching.planning.releases import End, Releases, releases_of
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.shapes import Shape, shape_of
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.outages import Outage
from hpcsched.system.pool_draws import Amounts, most_draw, node_draw, own_draw
from hpcsched.system.request import ShapeKey, shape_key
from hpcsched.system.space import NodeSpace, units_that_fit
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

    def profile(self) -> "NodeProfile":
        """Return what is free on nodes from now on."""
        # Plans are compiled code, whose import takes longer than many a run.
        from hpcsched.dispatching.heuristic.node_profile import NodeProfile  # noqa: PLC0415

        return NodeProfile(self)
