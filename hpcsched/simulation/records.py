"""What the simulator tells its observers."""

from typing import Literal, NamedTuple, get_args

from hpcsched.dispatching.decision import SolverCall
from hpcsched.system.allocation import Allocation
from hpcsched.workload.job import Job

JobState = Literal["completed", "killed", "rejected", "failed"]

RejectedBy = Literal[
    "dispatcher",
    "no_partition",
    "over_partition_time",
    "larger_than_partition",
    "over_nodes_per_user",
    "over_pool",
]
"""What rejects a job: the dispatcher; or, at submission, the rules of partitions
or pools.

`no_partition`: it belongs to none; `over_partition_time`: it requests more time than its partition
allows; `larger_than_partition`: it does not fit on the idle nodes that it may use;
`over_nodes_per_user`: it may take more nodes than a user may hold; `over_pool`: it draws more than
pools ever offer, in the long run, for as long as it is predicted to run.
"""

REFUSALS: tuple[RejectedBy, ...] = get_args(RejectedBy)
"""All of these, in the order by which columns number them."""


class JobRecord(NamedTuple):
    """A job that has left the system.

    `killed` means that it was ended at its requested time; `run_time` is then shorter than the
    trace's. A rejected job has no start, end, run time or allocation. `demand` is the job's largest
    share of the system, scaled to a whole number (see `System.demand`). `rejected_by` says what
    rejected it, if it was. `failed` means that a node of it went out of service, and that it was
    not run again. Start and end are those of the last attempt: `requeues` attempts before it were
    lost, which had run for `lost_time` seconds together.
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

    If it was `requeued`, the job waits again; otherwise it has left the system, as failed.
    """

    job: Job
    start_time: int
    end_time: int
    allocation: Allocation
    requeued: bool


class RoundRecord(NamedTuple):
    """A dispatching round.

    It was asked for at `now`, when `queued` jobs waited and `running` ran, and its decision carried
    out `latency` simulated seconds later. The rest is as of then: `waiting` counts the jobs still
    queued, `waiting_amounts` is what they ask for and `free_amounts` what is free, per resource
    type of the system. `lost_amounts` is what was free although it was waited for in between, in
    amount × seconds. `decision_time` is in real seconds. `solver` tells of the solver, if one was
    asked. `chosen` and `because` are those of a `Decision`.
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
