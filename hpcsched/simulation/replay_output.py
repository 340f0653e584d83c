"""Results of a replay as columns: jobs that have left, rounds, running jobs."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import BoolArray, FloatArray, Output
from hpcsched.simulation.records import RoundRemarks
from hpcsched.system.system import IntArray

_TIMES = [codes.OUT_SEQUENCE, codes.OUT_START, codes.OUT_END]


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in that order, `[J]`.

    Attributes
    ----------
    sequence
        Place of the job among all submitted.
    predicted
        Predicted run time, in seconds.
    failed
        True for a job that lost a node and was not run again.
    rejected_by
        Place in `REFUSALS`, or -1. A rejected job has no places; start and end are its rejection.
    requeues, lost_time
        Number of attempts before, which were lost, and their run time in seconds.
    last_place
        End of the job's places in `nodes` and `node_units`.
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
    """Attempts that were lost with a node, in order, `[I]`; places as in `LeftJobs`.

    Jobs that were not `requeued` have left as failed.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    last_place: IntArray
    nodes: IntArray
    node_units: IntArray


class ReplayedRounds(NamedTuple):
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
    """Running jobs, `[J]`; `request` is the number of their unit request."""

    start_time: IntArray
    units: IntArray
    request: IntArray


class Written(NamedTuple):
    """Results of a part of a replay.

    Attributes
    ----------
    left, rounds, lost
        Jobs that have left, rounds, and lost attempts.
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


def take_written(counters: IntArray, output: Output, shared_levels: IntArray | None) -> Written:
    """Return everything that the event loop has written, and reset its output."""
    # Copies: the loop writes its next part over the same arrays.
    jobs = output.jobs[: counters[codes.OUT_JOBS]].copy()
    places = int(counters[codes.OUT_PLACES])
    rows = output.rounds[: counters[codes.OUT_ROUNDS]].copy()
    times = output.decision_times[: counters[codes.OUT_ROUNDS]].copy()
    counters[[codes.OUT_JOBS, codes.OUT_PLACES, codes.OUT_ROUNDS]] = 0
    levels = np.empty((0, 1), dtype=np.int64)
    if shared_levels is not None:
        levels = shared_levels[: counters[codes.OUT_LEVELS]].copy()
    counters[codes.OUT_LEVELS] = 0
    first = codes.ROUND_COLUMNS
    # Behind the columns of a round stand three groups, each with one column per resource type.
    types = (rows.shape[1] - first) // 3
    how = jobs[:, codes.OUT_HOW]
    nodes, units = output.nodes[:places].copy(), output.units[:places].copy()
    # A requeued attempt is lost, but its job has not left; a failed one is both.
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
        ReplayedRounds._make(
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
    """Return selected rows, the ends of their places, and these places."""
    last = jobs[:, codes.OUT_LAST_PLACE]
    # The usual case, without outages: no copy of the places.
    if wanted.all():
        return jobs, [last, nodes, units]
    count = np.diff(last, prepend=0)
    of_them = wanted.repeat(count)
    return jobs[wanted], [np.cumsum(count[wanted]), nodes[of_them], units[of_them]]
