"""What the simulator tells its observers."""

from typing import Literal, NamedTuple

from hpcsched.dispatching.decision import SolverCall
from hpcsched.system.allocation import Allocation
from hpcsched.workload.job import Job

JobState = Literal["completed", "killed", "rejected"]


class JobRecord(NamedTuple):
    """A job that has left the system.

    `killed` means that it was ended at its requested time; `run_time` is then shorter than the
    trace's. A rejected job has no start, end, run time or allocation. `demand` is the job's largest
    share of the system, scaled to a whole number (see `System.demand`).
    """

    job: Job
    demand: int
    predicted_run_time: int
    state: JobState
    start_time: int | None
    end_time: int | None
    allocation: Allocation | None


class RoundRecord(NamedTuple):
    """A dispatching round.

    It was asked for at `now`, when `queued` jobs waited and `running` ran, and its decision carried
    out `latency` simulated seconds later. The rest is as of then: `waiting` counts the jobs still
    queued, `waiting_amounts` is what they ask for and `free_amounts` what is free, per resource
    type of the system. `lost_amounts` is what was free although it was waited for in between, in
    amount × seconds. `decision_time` is in real seconds. `solver` tells of the solver, if one was
    asked.
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
