"""What a replay in compiled code tells, as columns: jobs that have left, rounds, jobs that run."""

from typing import NamedTuple

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FloatArray, Output
from hpcsched.system.system import IntArray


class LeftJobs(NamedTuple):
    """Jobs that have left the system, in the order in which they did, `[J]`.

    `sequence` is a job's place among all submitted, `predicted` its predicted run time. Its places
    are those up to `last_place` in `nodes` and `node_units`, from that of the job before.
    """

    sequence: IntArray
    start_time: IntArray
    end_time: IntArray
    predicted: IntArray
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
    waiting_amounts: IntArray
    free_amounts: IntArray
    decision_time: FloatArray


class RunningJobs(NamedTuple):
    """The jobs that run, `[J]`; `request` is the number of what their units ask for."""

    start_time: IntArray
    units: IntArray
    request: IntArray


def take_written(counters: IntArray, output: Output) -> tuple[LeftJobs, HeldRounds]:
    """Return what the loop of events has written, and have it begin anew."""
    jobs = output.jobs[: counters[codes.OUT_JOBS]].copy()
    places = int(counters[codes.OUT_PLACES])
    rows = output.rounds[: counters[codes.OUT_ROUNDS]].copy()
    times = output.decision_times[: counters[codes.OUT_ROUNDS]].copy()
    counters[[codes.OUT_JOBS, codes.OUT_PLACES, codes.OUT_ROUNDS]] = 0
    first = codes.ROUND_COLUMNS
    types = (rows.shape[1] - first) // 2
    return (
        LeftJobs._make([*jobs.T, output.nodes[:places].copy(), output.units[:places].copy()]),
        HeldRounds._make(
            [
                *rows[:, :first].T,
                rows[:, first : first + types],
                rows[:, first + types :],
                times,
            ]
        ),
    )
