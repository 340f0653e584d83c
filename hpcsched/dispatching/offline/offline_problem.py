"""The question of a whole trace at once, and its answer."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, runtime_checkable

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob, waiting_job
from hpcsched.system.allocation import Interval, NodeAllocation, SlotMap
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob


class OfflineProblem(NamedTuple):
    """All jobs of a trace, in order of submission, and the idle system.

    The jobs' `predicted_run_time` is what they really run, in seconds, 0 included. What the system
    has comes in one of the two forms of `DispatchingProblem`. `online`, by job number, are the
    starts that the dispatcher comes to on-line, in seconds; empty where nobody knows.
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
        """Return the problem of a round in which these jobs waited before an idle system."""
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
    """Return the problem of all jobs of a trace, which come by ascending submit time.

    `what_is_free` is the idle system's `free_slots`, `slot_map` and `free_amounts`.
    """
    waiting = tuple(
        waiting_job(
            job,
            min(run_time, job.requested_time) if kill_at_requested_time else run_time,
            system,
        )
        for job, run_time in jobs
    )
    return OfflineProblem(waiting, system, objective, *what_is_free)


class OfflinePlan(NamedTuple):
    """When every job starts, and how far that may be from what is possible.

    `starts`, by job number, are instants in seconds, each the submission of a job, the end of one,
    or one of `extra_rounds`, ascending: there a job starts later than it could, since that pays.
    `allocations`, by job number, say where; of a job that is not there any place with room
    will do. `zero_length` are the jobs that run for no time. `method` names the step that found the
    plan. `lower_bound` is what no schedule can undercut, in the objective's own unit, and
    `bound_by` where it comes from; both are None where nothing is known. `work` counts the pieces
    of plans that were looked through, `solver` the parts of the trace that the solver was asked
    about, by what came of it.
    """

    starts: Mapping[int, int]
    allocations: Mapping[int, NodeAllocation]
    zero_length: frozenset[int]
    method: str
    lower_bound: float | None
    bound_by: str | None
    work: int
    solver: Mapping[str, int]
    extra_rounds: tuple[int, ...] = ()


@runtime_checkable
class PlansOffline(Protocol):
    """A dispatcher that can also plan a whole trace at once."""

    @property
    def allocator(self) -> Allocator:
        """What places jobs of which a plan does not say where they go."""

    def plan_offline(self, problem: OfflineProblem) -> OfflinePlan:
        """Return a plan of all jobs; raises InputError where they cannot be planned for."""
