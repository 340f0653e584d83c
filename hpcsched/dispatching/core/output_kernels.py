"""Compiled output of the event loop: jobs that stop running, their places, and rounds."""

from hpcsched.dispatching.core.codes import (
    CELL,
    LOST_TIME,
    NOW,
    OUT_END,
    OUT_HOW,
    OUT_JOBS,
    OUT_LAST_PLACE,
    OUT_LOST_TIME,
    OUT_PLACES,
    OUT_PREDICTED,
    OUT_REQUEUES,
    OUT_ROUNDS,
    OUT_SEQUENCE,
    OUT_START,
    PREDICTED,
    QUEUED,
    REJECTED,
    REQUEUES,
    ROUND,
    ROUND_COLUMNS,
    ROUND_LATENCY,
    ROUND_NOW,
    ROUND_NUMBER,
    ROUND_QUEUED,
    ROUND_RUNNING,
    ROUND_STARTED,
    ROUND_WAITING,
    SEQUENCE,
    START,
    STARTED,
    SUBMITTED,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.slot_kernels import write_nodes, write_nodes_of_slots
from hpcsched.dispatching.core.state import ByNode, NodeArray
from hpcsched.system.system import IntArray


@compiled()
def write_places(
    cell: int, place: int, nodes: NodeArray, units: NodeArray, state: State, by_node: ByNode
) -> int:
    """Write the nodes of a job, and the units on each.

    Parameters
    ----------
    cell
        First cell of the job's places.
    place
        First position in the output.
    nodes
        Output of node numbers.
    units
        Output of units.

    Returns
    -------
    int
        Position behind the last.
    """
    if by_node is None:
        return write_nodes_of_slots(cell, place, state.first_slot, state.cells, nodes, units)
    return write_nodes(cell, place, state.cells, nodes, units)


@compiled()
def write_job(row: int, how: int, state: State, by_node: ByNode) -> bool:
    """Write a job that stops running now to the output.

    Parameters
    ----------
    how
        `ENDED`, `FAILED` or `REQUEUED`.

    Returns
    -------
    bool
        False if the output tables are full.
    """
    counters, jobs = state.counters, state.jobs
    at, place = counters[OUT_JOBS], counters[OUT_PLACES]
    if at == len(state.out_jobs):
        return False
    if state.writes_places:
        # The bound is checked in advance, since places are written in one go.
        if place + min(jobs[row, UNITS], state.available.shape[1]) > len(state.out_nodes):
            return False
        place = write_places(
            jobs[row, CELL], place, state.out_nodes, state.out_units, state, by_node
        )
    out = state.out_jobs[at]
    out[OUT_SEQUENCE] = jobs[row, SEQUENCE]
    out[OUT_START] = jobs[row, START]
    out[OUT_END] = counters[NOW]
    out[OUT_PREDICTED] = jobs[row, PREDICTED]
    out[OUT_LAST_PLACE] = place
    out[OUT_HOW] = how
    out[OUT_REQUEUES] = jobs[row, REQUEUES]
    out[OUT_LOST_TIME] = jobs[row, LOST_TIME]
    counters[OUT_JOBS] = at + 1
    counters[OUT_PLACES] = place
    return True


@compiled()
def is_refused(k: int, refused: IntArray | None) -> bool:
    """Check whether job `k` of a batch is refused at submission."""
    return refused is not None and bool(refused[k] >= 0)


@compiled()
def write_refusal(k: int, state: State, refused: IntArray | None) -> bool:
    """Write the submission and refusal of job `k` of a batch; return False if there is no room."""
    if refused is None:
        return True
    counters, at = state.counters, state.counters[OUT_JOBS]
    if at == len(state.out_jobs):
        return False
    out = state.out_jobs[at]
    out[OUT_SEQUENCE] = counters[SUBMITTED]
    out[OUT_START] = out[OUT_END] = counters[NOW]
    out[OUT_PREDICTED] = state.batch_predicted[k]
    out[OUT_LAST_PLACE] = counters[OUT_PLACES]
    out[OUT_HOW] = REJECTED + refused[k]
    out[OUT_REQUEUES] = out[OUT_LOST_TIME] = 0
    counters[OUT_JOBS] = at + 1
    counters[SUBMITTED] += 1
    return True


@compiled()
def write_dismissal(row: int, state: State) -> None:
    """Write a job that Python rejects; there is room for it."""
    counters, jobs, at = state.counters, state.jobs, state.counters[OUT_JOBS]
    out = state.out_jobs[at]
    out[OUT_SEQUENCE] = jobs[row, SEQUENCE]
    out[OUT_START] = out[OUT_END] = counters[NOW]
    out[OUT_PREDICTED] = jobs[row, PREDICTED]
    out[OUT_LAST_PLACE] = counters[OUT_PLACES]
    # The dispatcher is the first of the causes.
    out[OUT_HOW] = REJECTED
    out[OUT_REQUEUES] = jobs[row, REQUEUES]
    out[OUT_LOST_TIME] = jobs[row, LOST_TIME]
    counters[OUT_JOBS] = at + 1


@compiled()
def write_round(seconds: float, queued: int, running: int, state: State) -> None:
    """Write a round to the output.

    Parameters
    ----------
    seconds
        Real seconds that the decision took.
    queued
        Number of queued jobs before the round.
    running
        Number of running jobs before the round.
    """
    counters, k = state.counters, state.counters[OUT_ROUNDS]
    row = state.out_rounds[k]
    row[ROUND_NUMBER] = counters[ROUND]
    row[ROUND_NOW] = counters[NOW]
    row[ROUND_QUEUED] = queued
    row[ROUND_RUNNING] = running
    row[ROUND_STARTED] = counters[STARTED]
    row[ROUND_WAITING] = counters[QUEUED]
    row[ROUND_LATENCY] = 0
    amounts = len(state.totals)
    for r in range(amounts):
        row[ROUND_COLUMNS + r] = state.waiting_amounts[r]
        row[ROUND_COLUMNS + amounts + r] = state.free_amounts[r]
        row[ROUND_COLUMNS + 2 * amounts + r] = 0
    state.out_decision_times[k] = seconds
    counters[OUT_ROUNDS] += 1
