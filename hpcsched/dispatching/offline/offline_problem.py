"""The problem of planning a whole trace at once, and its plan."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.problem import DispatchingProblem, Objective, WaitingJob, waiting_job
from hpcsched.system.space import Interval, NodeAllocation, SlotMap
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob


class OfflineProblem(NamedTuple):
    """All jobs of a trace, in order of submission, and the idle system.

    Attributes
    ----------
    jobs
        The jobs; `predicted_run_time` is the real run time in seconds.
    free_slots, slot_map, free_amounts
        The idle system, in one of the two forms of `DispatchingProblem`.
    online
        Starts of the dispatcher on-line in seconds, by job number; empty if unknown.
    """

    jobs: tuple[WaitingJob, ...]
    system: System
    objective: Objective
    free_slots: tuple[Interval, ...] | None = None
    slot_map: SlotMap | None = None
    free_amounts: IntArray | None = None
    online: Mapping[int, int] = MappingProxyType({})

    @property
    def origin(self) -> int:
        """The first submission, from which plans count their seconds."""
        return self.jobs[0].submit_time if self.jobs else 0

    def as_if_waiting(self, jobs: tuple[WaitingJob, ...]) -> DispatchingProblem:
        """Return the problem of a round in which these jobs wait before an idle system."""
        what_is_free = self.free_slots, self.slot_map, self.free_amounts
        return DispatchingProblem(
            self.origin, 0, jobs, (), self.system, self.objective, *what_is_free
        )


def problem_of(
    jobs: Iterable[TracedJob],
    system: System,
    objective: Objective,
    what_is_free: tuple[tuple[Interval, ...] | None, SlotMap | None, IntArray | None],
    *,
    kill_at_requested_time: bool = False,
) -> OfflineProblem:
    """Return the problem of all jobs of a trace.

    Parameters
    ----------
    jobs
        The jobs, by ascending submit time.
    """
    waiting = tuple(
        waiting_job(
            job, min(run_time, job.requested_time) if kill_at_requested_time else run_time, system
        )
        for job, run_time in jobs
    )
    return OfflineProblem(waiting, system, objective, *what_is_free)


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
