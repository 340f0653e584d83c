"""Results of a replay as columns: jobs that have left, rounds, running jobs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched._core import State
from hpcsched.simulation.records import RoundRemarks
from hpcsched.system.system import IntArray

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
NodeArray = npt.NDArray[np.int32]

ENDED, _FAILED, _REQUEUED, _REJECTED = range(4)
"""How a job stops running, or that it never runs: `Left` of the core."""


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in that order, `[J]`.

    Attributes
    ----------
    predicted
        Predicted run time, in seconds.
    failed
        True for a job that lost a node and was not run again.
    rejected_by
        Place in `REFUSALS`, or -1. A rejected job has no places; start and end are its rejection.
    requeues, lost_time
        Number of attempts before, which were lost, and their run time in seconds.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    predicted: IntArray
    failed: BoolArray
    rejected_by: IntArray
    requeues: IntArray
    lost_time: IntArray
    last_place: IntArray
    nodes: NodeArray
    node_units: NodeArray


class LostAttempts(NamedTuple):
    """Attempts that were lost with a node, in order, `[I]`; places as in `LeftJobs`.

    Jobs that were not `requeued` have left as failed.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    last_place: IntArray
    nodes: NodeArray
    node_units: NodeArray


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


def take_written(state: State) -> Written:
    """Return everything that the event loop has written, and reset its output."""
    left, nodes, units, lost, lost_nodes, lost_units, rounds, amounts, times, levels = (
        state.take_output()
    )
    sequence, start, end, predicted, last_place, how, requeues, lost_time = left.T
    types = amounts.shape[1] // 3
    return Written(
        LeftJobs(
            sequence,
            start,
            end,
            predicted,
            how == _FAILED,
            np.maximum(how - _REJECTED, -1),
            requeues,
            lost_time,
            last_place,
            nodes,
            units,
        ),
        ReplayedRounds._make([*rounds.T, *np.split(amounts, [types, 2 * types], axis=1), times]),
        LostAttempts._make(
            [*lost.T[:3], lost[:, 5] == _REQUEUED, lost[:, 4], lost_nodes, lost_units]
        ),
        levels[:, 0],
        levels[:, 1:],
    )
