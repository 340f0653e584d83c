"""Records that the simulator passes to observers."""

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from hpcsched._core import State
from hpcsched.dispatching.decision import SolverCall
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import IntArray
from hpcsched.workload.job import Job

JobState = Literal["completed", "killed", "rejected", "failed", "preempted", "withdrawn"]

RejectedBy = Literal[
    "dispatcher",
    "used_up_limit",
    "no_partition",
    "over_partition_time",
    "larger_than_partition",
    "over_limit",
    "over_shared_resource",
]
"""What rejects a job: the dispatcher; a limit; or, at submission, the rules of partitions or shared
resources.

`used_up_limit`: it waited at the end of the replay for a limit over time that is used up, or for
such a job;
`no_partition`: it belongs to none; `over_partition_time`: it requests more time than its partition
allows; `larger_than_partition`: it does not fit on the idle nodes that it may use;
`over_limit`: it could never keep to a limit of its QOS, account, user or partition;
`over_shared_resource`: it draws more than shared resources ever offer, in
the long run, for as long as it is predicted to run.
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
        `preempted`: ended for another job, and not run again.
        `withdrawn`: left at the end of its patience, and never started.
    start_time, end_time
        Instants of the last attempt, in seconds; None for a job that never started.
    allocation
        Its nodes; None for a job that never started.
    rejected_by
        Rule that rejected it; None if none did.
    requeues, lost_time
        Number of attempts before, which were lost to outages or preemption, and their run time in
        seconds, without the work that checkpoints saved.
    backfilled
        Whether a job ahead of it in the queue waited on as it started; None if it never started,
        and in live runs.
    """

    job: Job
    demand: int
    predicted_run_time: int
    state: JobState
    start_time: int | None
    end_time: int | None
    allocation: NodeAllocation | None
    rejected_by: RejectedBy | None = None
    requeues: int = 0
    lost_time: int = 0
    backfilled: bool | None = None


class Interruption(NamedTuple):
    """An attempt to run a job that ended since a node went out of service, or by preemption.

    Attributes
    ----------
    start_time, end_time
        Instants of the attempt, in seconds.
    requeued
        True: the job waits again. False: it has left the system, as failed or preempted.
    """

    job: Job
    start_time: int
    end_time: int
    allocation: NodeAllocation
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
    """Remarks of a decision made in Python, beside its starts; as in `RoundRecord`."""

    rejected: int
    fallback: bool
    solver: SolverCall | None
    chosen: str | None
    because: str | None


BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
NodeArray = npt.NDArray[np.int32]

ENDED, FAILED, REQUEUED, PREEMPTED, _SUSPENDED, _WITHDRAWN, _REJECTED = range(7)
"""How a job stops running, or that it never runs: `Left` of the core."""


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in that order, `[J]`.

    A withdrawn or rejected job has no places; start and end are when it left.

    Attributes
    ----------
    predicted
        Predicted run time, in seconds.
    failed
        True for a job that lost a node and was not run again.
    preempted
        True for a job that ended for another and was not run again.
    withdrawn
        True for a job that left at the end of its patience.
    rejected_by
        Place in `REFUSALS`, or -1.
    requeues, lost_time
        Number of attempts before, which were lost, and their run time in seconds.
    ran, work
        Seconds that the last attempt ran, and run time without checkpoints.
    backfilled
        Whether a job that was ahead of it in the queue waited on as it started.
    last_place, last_device
        End of each job's part of the lists of places, and of devices.
    nodes, node_units
        Nodes, ascending in each job, and its units on each.
    devices
        Devices of each unit, in the order of nodes, as bits; of jobs that ask for devices.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    predicted: IntArray
    failed: BoolArray
    preempted: BoolArray
    withdrawn: BoolArray
    rejected_by: IntArray
    requeues: IntArray
    lost_time: IntArray
    ran: IntArray
    work: IntArray
    backfilled: BoolArray
    last_place: IntArray
    nodes: NodeArray
    node_units: NodeArray
    last_device: IntArray
    devices: IntArray

    @property
    def has_run(self) -> BoolArray:
        """Mask of the jobs that ran, `[J]`."""
        return np.asarray((self.rejected_by < 0) & ~self.withdrawn)


class LostAttempts(NamedTuple):
    """Attempts that were lost with a node or by preemption, `[I]`; places as in `LeftJobs`.

    Jobs that were not `requeued` have left as failed or preempted.

    Attributes
    ----------
    suspended
        True for an interval in which a job was suspended, which is no attempt.
    preempted_by
        Number of the job for which it ended or was suspended, or -1.
    ran, lost_time
        Seconds that it ran, and these without the work that checkpoints saved.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    suspended: BoolArray
    preempted_by: IntArray
    ran: IntArray
    lost_time: IntArray
    last_place: IntArray
    nodes: NodeArray
    node_units: NodeArray
    last_device: IntArray
    devices: IntArray


class ReplayedRounds(NamedTuple):
    """Dispatching rounds, in order, `[K]`; the fields are those of `RoundRecord`.

    Attributes
    ----------
    call_again
        Requested time of the next round, in seconds; `NEVER` without one.
    """

    round: IntArray
    now: IntArray
    queued: IntArray
    running: IntArray
    started: IntArray
    waiting: IntArray
    latency: IntArray
    call_again: IntArray
    waiting_amounts: IntArray
    free_amounts: IntArray
    lost_amounts: IntArray
    decision_time: FloatArray


class Written(NamedTuple):
    """Results of a part of a replay.

    Attributes
    ----------
    level_time, drawn
        Seconds at which jobs began or ended, `[L]`, and the amounts drawn from shared resources
        since, `[L, P]`.
    remarks
        What the decisions of the rounds say, `[K]`; empty where none was made in Python.
    """

    left: LeftJobs
    rounds: ReplayedRounds
    lost: LostAttempts
    level_time: IntArray
    drawn: IntArray
    remarks: Sequence[RoundRemarks] = ()


def by_node(
    last_place: IntArray, nodes: NodeArray, units: NodeArray, devices: IntArray
) -> tuple[IntArray, NodeArray, NodeArray, IntArray, IntArray]:
    """Return the last five fields of `LeftJobs` of places in which a node may follow itself.

    Parameters
    ----------
    last_place
        End of each job's places, `[J]`.
    devices
        Devices of a unit of each place, as bits; empty where nodes have no devices.
    """
    if not len(devices):
        return last_place, nodes, units, np.zeros_like(last_place), devices
    first = np.ones(len(nodes), dtype=np.bool_)
    first[1:] = nodes[1:] != nodes[:-1]
    first[last_place[last_place < len(nodes)]] = True  # another job
    begins = np.flatnonzero(first)
    asked = np.append(0, np.cumsum(devices != 0))
    return (
        np.append(0, np.cumsum(first))[last_place],
        nodes[begins],
        np.add.reduceat(units, begins),
        asked[last_place],
        devices[devices != 0],
    )


def take_written(state: State) -> Written:
    """Return everything that the event loop has written, and reset its output."""
    left, places, lost, lost_places, rounds, amounts, times, levels = state.take_output()
    sequence, start, end, predicted, last_place, how, requeues, lost_time, _, ran, work, behind = (
        left.T
    )
    types = amounts.shape[1] // 3
    ends = sequence, start, end, predicted, how == FAILED, how == PREEMPTED, how == _WITHDRAWN
    refused_by = np.maximum(how - _REJECTED, -1)
    took = requeues, lost_time, ran, work, behind != 0
    lost_how = lost[:, 5]
    return Written(
        LeftJobs(*ends, refused_by, *took, *by_node(last_place, *places)),
        ReplayedRounds._make([*rounds.T, *np.split(amounts, [types, 2 * types], axis=1), times]),
        LostAttempts._make(
            [
                *lost.T[:3],
                lost_how == REQUEUED,
                lost_how == _SUSPENDED,
                *lost.T[[8, 9, 7]],
                *by_node(lost[:, 4], *lost_places),
            ]
        ),
        levels[:, 0],
        levels[:, 1:],
    )
