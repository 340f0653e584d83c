"""Records that the simulator passes to observers."""

from typing import Literal, NamedTuple, get_args

from hpcsched.dispatching.decision import Decision, SolverCall
from hpcsched.system.space import Allocation
from hpcsched.workload.job import Job

JobState = Literal["completed", "killed", "rejected", "failed"]

RejectedBy = Literal[
    "dispatcher",
    "no_partition",
    "over_partition_time",
    "larger_than_partition",
    "over_nodes_per_user",
    "over_shared_resource",
]
"""What rejects a job: the dispatcher; or, at submission, the rules of partitions
or shared resources.

`no_partition`: it belongs to none; `over_partition_time`: it requests more time than its partition
allows; `larger_than_partition`: it does not fit on the idle nodes that it may use;
`over_nodes_per_user`: it may take more nodes than a user may hold; `over_shared_resource`: it draws
more than shared resources ever offer, in the long run, for as long as it is predicted to run.
"""

REFUSALS: tuple[RejectedBy, ...] = get_args(RejectedBy)
"""All rules that reject, in the order by which columns number them."""


class JobRecord(NamedTuple):
    """A job that has left the system.

    Attributes
    ----------
    demand
        Largest share of the system, scaled to a whole number (see `System.demand`).
    predicted_run_time
        Prediction at its submission, in seconds; the real run time is `end_time - start_time`.
    state
        `completed`: ended by itself. `rejected`: never started.
        `killed`: ended at its requested time, so that `run_time` is shorter than the trace's.
        `failed`: a node of it went out of service, and it was not run again.
    start_time, end_time
        Instants of the last attempt, in seconds; None for a rejected job.
    allocation
        Its nodes; None for a rejected job.
    rejected_by
        Rule that rejected it; None if none did.
    requeues, lost_time
        Number of attempts before, which were lost to outages, and their run time in seconds.
    """

    job: Job
    demand: int
    predicted_run_time: int
    state: JobState
    start_time: int | None
    end_time: int | None
    allocation: Allocation | None
    rejected_by: RejectedBy | None = None
    requeues: int = 0
    lost_time: int = 0


class Interruption(NamedTuple):
    """An attempt to run a job that ended because a node went out of service.

    Attributes
    ----------
    start_time, end_time
        Instants of the attempt, in seconds.
    requeued
        True: the job waits again. False: it has left the system, as failed.
    """

    job: Job
    start_time: int
    end_time: int
    allocation: Allocation
    requeued: bool


class RoundRecord(NamedTuple):
    """A dispatching round.

    Attributes
    ----------
    round
        Number of the round, from 1.
    now
        Instant of the request for a decision, in seconds.
    latency
        Simulated seconds until the decision took effect; the fields below are as of then.
    waiting_amounts, free_amounts
        Amounts that they ask for, and free amounts, by resource type, `[R]`.
    lost_amounts
        Amounts that were free while waited for, between request and effect, × seconds, `[R]`.
    decision_time
        Real seconds that the dispatcher took.
    fallback
        Whether a simpler rule decided in place of the dispatcher's own.
    solver
        The solver call, if there was one.
    """

    round: int
    now: int
    queued: int
    running: int
    started: int
    rejected: int
    waiting: int
    waiting_amounts: tuple[int, ...]
    free_amounts: tuple[int, ...]
    latency: int
    lost_amounts: tuple[int, ...]
    decision_time: float
    fallback: bool
    solver: SolverCall | None
    chosen: str | None = None
    because: str | None = None
    call_again_at: int | None = None


class RoundRemarks(NamedTuple):
    """What a decision made in Python says beside its starts, as in `RoundRecord`."""

    rejected: int
    fallback: bool
    solver: SolverCall | None
    chosen: str | None
    because: str | None


def remarks_of(decision: Decision) -> RoundRemarks:
    """Return what a decision says beside its starts."""
    return RoundRemarks(
        len(decision.rejected),
        decision.fallback,
        decision.solver,
        decision.chosen,
        decision.because,
    )
