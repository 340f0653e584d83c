"""The problem of planning a whole trace at once, and its plan."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob, waiting_job
from hpcsched.errors import Finding, InputError
from hpcsched.system.space import NodeAllocation, NodeSpace
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob


class OfflineProblem(NamedTuple):
    """All jobs of a trace, in order of submission, and the idle system.

    Attributes
    ----------
    jobs
        The jobs; `predicted_run_time` is the real run time in seconds.
    free_units
        Number of units that fit on the idle system, as in `DispatchingProblem`.
    online
        Starts of the dispatcher on-line in seconds, by job number; empty if unknown.
    """

    jobs: tuple[WaitingJob, ...]
    system: System
    objective: Objective
    free_units: int | None = None
    online: Mapping[int, int] = MappingProxyType({})

    @property
    def origin(self) -> int:
        """The first submission, from which plans count their seconds."""
        return self.jobs[0].submit_time if self.jobs else 0

    def as_if_waiting(self, jobs: tuple[WaitingJob, ...]) -> DispatchingProblem:
        """Return the problem of a round in which these jobs wait before an idle system."""
        system, idle = self.system, NodeSpace(self.system).available
        return DispatchingProblem(
            self.origin, 0, jobs, (), system, self.objective, idle, self.free_units
        )


def problem_of(
    jobs: Iterable[TracedJob],
    system: System,
    objective: Objective,
    free_units: int | None = None,
    *,
    kill_at_requested_time: bool = False,
) -> OfflineProblem:
    """Return the problem of all jobs of a trace.

    Parameters
    ----------
    jobs
        The jobs, by ascending submit time.
    free_units
        As in `OfflineProblem`.

    Raises
    ------
    InputError
        A job has a begin time, or is withdrawn.
    """
    jobs = tuple(jobs)
    if any(job.begin_delay or job.patience is not None for job, _ in jobs):
        message = "a plan of a whole trace has no begin times and no jobs that are withdrawn"
        raise InputError(Finding("not-offline", message, key="trace"))
    waiting = tuple(
        waiting_job(
            job, min(run_time, job.requested_time) if kill_at_requested_time else run_time, system
        )
        for job, run_time in jobs
    )
    return OfflineProblem(waiting, system, objective, free_units)


class OfflinePlan(NamedTuple):
    """The start of every job, and a lower bound of the objective.

    Attributes
    ----------
    starts
        Starts in seconds, by job number. Each is the submission of a job or the end of one.
    allocations
        Nodes by job number; a job that is not there may go wherever there is room.
    lower_bound
        Lower bound of the objective, in its own unit; None if unknown.
    bound_by
        Source of the bound, in words; None if unknown.
    """

    starts: Mapping[int, int]
    allocations: Mapping[int, NodeAllocation]
    lower_bound: float | None
    bound_by: str | None


@runtime_checkable
class PlansOffline(Protocol):
    """A dispatcher that can also plan a whole trace at once."""

    @property
    def allocator(self) -> Allocator:
        """The allocator of jobs without nodes in a plan."""

    def plan_offline(self, problem: OfflineProblem) -> OfflinePlan:
        """Return a plan of all jobs.

        Raises
        ------
        InputError
            The jobs or the objective cannot be planned for.
        """
