"""What a replay in compiled code tells, as columns: jobs that have left, rounds, jobs that run."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import BoolArray, FloatArray, Output
from hpcsched.system.system import IntArray

_TIMES = [codes.OUT_SEQUENCE, codes.OUT_START, codes.OUT_END]


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in the order in which they did, `[J]`.

    `sequence` is a job's place among all submitted, `predicted` its predicted run time. Its places
    are those up to `last_place` in `nodes` and `node_units`, from that of the job before. `failed`
    ones have lost a node and were not run again. What one is `rejected_by` is its place in
    `REFUSALS`, or -1; such a job has no places, and starts and ends when it is submitted. Of each,
    `requeues` attempts before the last were lost, which had run for `lost_time` seconds together.
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
    nodes: IntArray
    node_units: IntArray


class LostAttempts(NamedTuple):
    """Attempts to run a job that were lost with a node, in order, `[I]`; places as in `LeftJobs`.

    Jobs that were not `requeued` have left as failed.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    last_place: IntArray
    nodes: IntArray
    node_units: IntArray


class HeldRounds(NamedTuple):
    """Dispatching rounds, in order, `[K]`; the fields are those of `RoundRecord`."""

    round: IntArray
    now: IntArray
    queued: IntArray
    running: IntArray
    started: IntArray
    waiting: IntArray
    latency: IntArray
    waiting_amounts: IntArray
    free_amounts: IntArray
    lost_amounts: IntArray
    decision_time: FloatArray


class RunningJobs(NamedTuple):
    """The jobs that run, `[J]`; `request` is the number of what their units ask for."""

    start_time: IntArray
    units: IntArray
    request: IntArray


class Written(NamedTuple):
    """What a part of a replay tells.

    At `level_time` jobs began or ended, from when on `drawn`, `[L, P]`, was drawn from pools.
    """

    left: LeftJobs
    held: HeldRounds
    lost: LostAttempts
    level_time: IntArray
    drawn: IntArray


def take_written(counters: IntArray, output: Output, pool_levels: IntArray | None) -> Written:
    """Return what the loop of events has written, and have it begin anew."""
    jobs = output.jobs[: counters[codes.OUT_JOBS]].copy()
    places = int(counters[codes.OUT_PLACES])
    rows = output.rounds[: counters[codes.OUT_ROUNDS]].copy()
    times = output.decision_times[: counters[codes.OUT_ROUNDS]].copy()
    counters[[codes.OUT_JOBS, codes.OUT_PLACES, codes.OUT_ROUNDS]] = 0
    levels = np.empty((0, 1), dtype=np.int64)
    if pool_levels is not None:
        levels = pool_levels[: counters[codes.OUT_LEVELS]].copy()
    counters[codes.OUT_LEVELS] = 0
    first = codes.ROUND_COLUMNS
    types = (rows.shape[1] - first) // 3
    how = jobs[:, codes.OUT_HOW]
    nodes, units = output.nodes[:places].copy(), output.units[:places].copy()
    left, left_places = _some(how != codes.REQUEUED, jobs, nodes, units)
    lost, lost_places = _some((how == codes.FAILED) | (how == codes.REQUEUED), jobs, nodes, units)
    return Written(
        LeftJobs._make(
            [
                *left[:, [*_TIMES, codes.OUT_PREDICTED]].T,
                left[:, codes.OUT_HOW] == codes.FAILED,
                np.maximum(left[:, codes.OUT_HOW] - codes.REJECTED, -1),
                left[:, codes.OUT_REQUEUES],
                left[:, codes.OUT_LOST_TIME],
                *left_places,
            ]
        ),
        HeldRounds._make(
            [
                *rows[:, :first].T,
                *(rows[:, first + k * types :][:, :types] for k in range(3)),
                times,
            ]
        ),
        LostAttempts._make(
            [
                *lost[:, _TIMES].T,
                lost[:, codes.OUT_HOW] == codes.REQUEUED,
                *lost_places,
            ]
        ),
        levels[:, 0],
        levels[:, 1:],
    )


def _some(
    wanted: BoolArray,
    jobs: IntArray,
    nodes: npt.NDArray[np.int32],
    units: npt.NDArray[np.int32],
) -> tuple[IntArray, list[npt.NDArray[Any]]]:
    """Return some rows; and where the places of each end, and these places."""
    last = jobs[:, codes.OUT_LAST_PLACE]
    if wanted.all():
        return jobs, [last, nodes, units]
    count = np.diff(last, prepend=0)
    of_them = wanted.repeat(count)
    return jobs[wanted], [np.cumsum(count[wanted]), nodes[of_them], units[of_them]]
