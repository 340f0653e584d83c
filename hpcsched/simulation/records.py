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

    `queued` and `running` count jobs before the round; `waiting` those still queued after it, and
    `waiting_amounts` what they ask for, `free_amounts` what is free then, per resource type of the
    system. `decision_time` is in real seconds. `solver` tells of the solver, if one was asked.
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
    decision_time: float
    fallback: bool
    solver: SolverCall | None
