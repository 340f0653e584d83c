"""A deliberately naive plan, to check real ones by, and dispatching rounds to plan in.

The plan is a table of what is free on each node in every second from now on. Nothing is shared with
the code under test but the system, the jobs and their allocations.
"""

from typing import Literal, NamedTuple

import numpy as np
from hypothesis import strategies as st

from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob, waiting_job
from hpcsched.dispatching.rules.allocators import BestFit, FirstFit, KeepScarce
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import Job, TracedJob
from tests.builders import NoObjective
from tests.properties.brute_force import node_capacities, node_group_names
from tests.strategies import mixed_workloads

Action = Literal["fits", "start", "reserve"]
"""What a plan is asked to do for a job."""

_PLANNING: list[Action] = ["start", "reserve", "reserve"]
_ALLOCATORS: list[Allocator] = [FirstFit(), BestFit(), KeepScarce()]


class Seconds:
    """What is free in every second from `now` on, `free[t, n, r]`.

    In the last second, and in all that come after it, nothing may run.
    """

    def __init__(self, system: System, now: int, length: int) -> None:
        self.system = system
        self.now = now
        self.capacity = node_capacities(system)
        self.free: IntArray = np.array([self.capacity] * (length + 1), dtype=np.int64)
        self._groups = node_group_names(system)

    def take(self, job: Job, allocation: NodeAllocation, begin: int, end: int) -> None:
        """Take an allocation's room, which must be free, from `begin` to `end`."""
        assert self.now <= begin < end < self.now + len(self.free)
        fits = self.units_during(job, begin, end)
        for node, units in zip(allocation.nodes, allocation.units, strict=True):
            assert 1 <= units <= fits[node]
            asked = [units * amount for amount in job.unit_request]
            held = self.capacity[node] if job.exclusive else asked
            self.free[begin - self.now : end - self.now, node] -= held

    def units(self, job: Job) -> IntArray:
        """Return how many units of a job each node can hold in every second, `[T, N]`."""
        asked = [(r, amount) for r, amount in enumerate(job.unit_request) if amount]
        units: IntArray = np.min([self.free[:, :, r] // amount for r, amount in asked], axis=0)
        if job.one_unit_per_node:
            units = np.minimum(units, 1)
        if job.exclusive:
            units[(self.free != self.capacity).any(axis=2)] = 0
        for node, group in enumerate(self._groups):
            if job.node_groups is not None and group not in job.node_groups:
                units[:, node] = 0
            if job.allowed_nodes is not None and node not in job.allowed_nodes:
                units[:, node] = 0
        return units

    def units_during(self, job: Job, begin: int, end: int) -> list[int]:
        """Return how many units of a job each node can hold throughout."""
        during: list[int] = self.units(job)[begin - self.now : end - self.now].min(axis=0).tolist()
        return during

    def lowest(self, begin: int, end: int) -> IntArray:
        """Return the least that is free throughout, `[R, N]`."""
        lowest: IntArray = self.free[begin - self.now : end - self.now].min(axis=0).T
        return lowest

    def fits(self, job: WaitingJob) -> bool:
        """Say whether a job can run from now to its predicted end, each unit on one node."""
        return self.earliest(job) == self.now

    def earliest(self, job: WaitingJob, begin: int | None = None) -> int | None:
        """Return the first second, now or from `begin` on, from which on a job can run.

        None if it never can.
        """
        units = self.units(job.request)
        for t in range(0 if begin is None else begin - self.now, len(units)):
            if units[t : t + job.predicted_run_time].min(axis=0).sum() >= job.units:
                return self.now + t
        return None

    def choice(
        self,
        job: WaitingJob,
        start: int,
        allocator: Allocator,
        problem: DispatchingProblem | None = None,
    ) -> NodeAllocation:
        """Return where an allocator puts a job that is to run from a time on."""
        end = start + job.predicted_run_time
        fits = np.array(self.units_during(job.request, start, end))
        room = Room(fits, self.lowest(start, end), job.unit_request, self.system, problem)
        return allocator.allocate(job.units, room)

    def allocation_of(self, job: WaitingJob, start: int, held: IntArray) -> NodeAllocation:
        """Return a job's allocation if `held`, `[N, R]`, is what it holds from a time on.

        An exclusive job holds whole nodes; its units are spread over them in any way.
        """
        fits = self.units_during(job.request, start, start + job.predicted_run_time)
        nodes: list[int] = np.flatnonzero(held.any(axis=1)).tolist()
        if job.request.exclusive:
            units = [1] * len(nodes)
            for k, node in enumerate(nodes):
                units[k] += min(fits[node] - 1, job.units - sum(units))
        else:
            r = next(r for r, amount in enumerate(job.unit_request) if amount)
            units = [int(held[node, r]) // job.unit_request[r] for node in nodes]
        assert sum(units) == job.units
        return NodeAllocation(tuple(nodes), tuple(units))


class Round(NamedTuple):
    """A dispatching round: jobs to start at first, and then what to ask a plan for each job."""

    problem: DispatchingProblem
    allocator: Allocator
    placed: tuple[WaitingJob, ...]
    steps: tuple[tuple[Action, WaitingJob], ...]

    def in_seconds(self) -> Seconds:
        """Return what is free beside the jobs that run."""
        problem = self.problem
        length = max((job.predicted_end_time - problem.now for job in problem.running), default=0)
        length += sum(job.predicted_run_time for job in problem.queue) + 10
        seconds = Seconds(problem.system, problem.now, length)
        for running in problem.running:
            seconds.take(
                running.waiting.request, running.allocation, problem.now, running.predicted_end_time
            )
        return seconds


def waiting(system: System, traced_job: TracedJob) -> WaitingJob:
    """Return a waiting job whose run time is foreseen."""
    return waiting_job(traced_job.job, traced_job.run_time, system)


def idle_problem(system: System, queue: tuple[WaitingJob, ...], now: int) -> DispatchingProblem:
    """Return a problem in which nothing runs."""
    free = np.array(node_capacities(system), dtype=np.int64).T
    return DispatchingProblem(now, 1, queue, (), system, NoObjective(), free_amounts=free)


class _Draft:
    """A round in the making: some jobs run, some start at once, some are to be planned."""

    def __init__(self, system: System, now: int) -> None:
        self.system = system
        self.now = now
        self.running: list[RunningJob] = []
        self.placed: list[WaitingJob] = []
        self.steps: list[tuple[Action, WaitingJob]] = []
        self._at_present = Seconds(system, now, 1)

    def run(self, job: WaitingJob, order: list[int], seconds: int) -> bool:
        """Let a job run for some more seconds on the first nodes with room; say if there are."""
        fits = self._at_present.units_during(job.request, self.now, self.now + 1)
        if sum(fits) < job.units:
            return False
        allocation = _somewhere(job.units, fits, order)
        self._at_present.take(job.request, allocation, self.now, self.now + 1)
        end = self.now + seconds
        self.running.append(RunningJob(end, job.job_id, 0, job.units, allocation, job))
        return True

    def finish(self, allocator: Allocator) -> Round:
        """Return the round."""
        queue = (*self.placed, *(job for _, job in self.steps))
        running = sorted(self.running, key=lambda job: (job.predicted_end_time, job.job_id))
        problem = idle_problem(self.system, queue, self.now)._replace(
            running=tuple(running), free_amounts=self._at_present.free[0].T
        )
        return Round(problem, allocator, tuple(self.placed), tuple(self.steps))


@st.composite
def rounds(draw: st.DrawFn, max_jobs: int = 10) -> Round:
    """Draw unlike jobs on unlike nodes."""
    workload = draw(mixed_workloads("exact", max_jobs=max_jobs, shortest=1))
    draft = _Draft(workload.system, draw(st.integers(0, 30)))
    nodes = range(workload.system.node_count)
    for traced_job in workload.jobs:
        job = waiting(workload.system, traced_job)
        match draw(st.sampled_from(["runs", "runs", "placed", "fits", "start", "reserve"])):
            case "runs":
                order = draw(st.permutations(nodes))
                if not draft.run(job, order, draw(st.integers(1, 10))):
                    draft.steps.append(("reserve", job))
            case "placed":
                draft.placed.append(job)
            case "fits":
                draft.steps.append(("fits", job))
            case "start":
                draft.steps.append(("start", job))
            case _:
                draft.steps.append(("reserve", job))
    return draft.finish(draw(st.sampled_from(_ALLOCATORS)))


def _somewhere(units: int, fits: list[int], order: list[int]) -> NodeAllocation:
    """Fill nodes in an order."""
    placed = [0] * len(fits)
    for node in order:
        placed[node] = min(units - sum(placed), fits[node])
    nodes = [node for node, count in enumerate(placed) if count]
    return NodeAllocation(tuple(nodes), tuple(placed[node] for node in nodes))
