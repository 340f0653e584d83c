"""The compiled loop of events: ends, then submissions, then rounds, instant by instant."""

from hpcsched.dispatching.core.clock import seconds as read_clock
from hpcsched.dispatching.core.codes import (
    ASKED_FOR,
    CELL,
    CELL_DEMAND,
    CELLS_FREE,
    DONE,
    END,
    ENDED_ANY,
    ENDS,
    FORESEEN,
    FREE_ROW,
    MOST_CELLS,
    NEEDS_CELLS,
    NEEDS_CORRECTIONS,
    NEEDS_JOBS,
    NEEDS_PREDICTIONS,
    NEEDS_ROWS,
    NEXT,
    NEXT_INSTANT,
    NOW,
    OUT_END,
    OUT_JOBS,
    OUT_LAST_PLACE,
    OUT_PLACES,
    OUT_PREDICTED,
    OUT_ROUNDS,
    OUT_SEQUENCE,
    OUT_START,
    OUTPUT_FULL,
    PAUSED,
    PHASE,
    PREDICTED,
    QUEUED,
    ROUND,
    ROUND_COLUMNS,
    ROUND_NOW,
    ROUND_NUMBER,
    ROUND_QUEUED,
    ROUND_RUNNING,
    ROUND_STARTED,
    ROUND_WAITING,
    ROUNDS,
    RUNNING,
    SEQUENCE,
    START,
    STARTED,
    SUBMISSIONS,
    UNITS,
    ZERO_ENDS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.job_kernels import any_outlived, end_first, leave_queue, submit
from hpcsched.dispatching.core.rule_kernels import decide
from hpcsched.dispatching.core.slot_kernels import write_nodes, write_nodes_of_slots
from hpcsched.dispatching.core.state import ByNode


@compiled()
def _write_places(cell: int, place: int, state: State, by_node: ByNode) -> int:
    """Write the nodes of a job, and the units on each; return the place behind the last."""
    nodes, units = state.out_nodes, state.out_units
    if by_node is None:
        return write_nodes_of_slots(cell, place, state.first_slot, state.cells, nodes, units)
    return write_nodes(cell, place, state.cells, nodes, units)


@compiled()
def _end_all(state: State, by_node: ByNode) -> bool:
    """End all jobs that end now; return whether there was room to write all of them down."""
    counters, jobs, ends = state.counters, state.jobs, state.ends
    now = counters[NOW]
    while counters[RUNNING] and jobs[ends[0], END] == now:
        row, at, place = ends[0], counters[OUT_JOBS], counters[OUT_PLACES]
        if at == len(state.out_jobs):
            return False
        if state.writes_places:
            if place + min(jobs[row, UNITS], state.available.shape[1]) > len(state.out_nodes):
                return False
            place = _write_places(jobs[row, CELL], place, state, by_node)
        state.out_jobs[at, OUT_SEQUENCE] = jobs[row, SEQUENCE]
        state.out_jobs[at, OUT_START] = jobs[row, START]
        state.out_jobs[at, OUT_END] = now
        state.out_jobs[at, OUT_PREDICTED] = jobs[row, PREDICTED]
        state.out_jobs[at, OUT_LAST_PLACE] = place
        counters[OUT_JOBS] = at + 1
        counters[OUT_PLACES] = place
        counters[ENDED_ANY] = 1
        end_first(state, by_node)
    return True


@compiled()
def _write_round(began: float, over: float, queued: int, running: int, state: State) -> None:
    """Write down a round that was held from `began` to `over`, in seconds of the clock."""
    counters, k = state.counters, state.counters[OUT_ROUNDS]
    row = state.out_rounds[k]
    row[ROUND_NUMBER] = counters[ROUND]
    row[ROUND_NOW] = counters[NOW]
    row[ROUND_QUEUED] = queued
    row[ROUND_RUNNING] = running
    row[ROUND_STARTED] = counters[STARTED]
    row[ROUND_WAITING] = counters[QUEUED]
    amounts = len(state.totals)
    for r in range(amounts):
        row[ROUND_COLUMNS + r] = state.waiting_amounts[r]
        row[ROUND_COLUMNS + amounts + r] = state.free_amounts[r]
    state.out_decision_times[k] = over - began
    counters[OUT_ROUNDS] += 1


@compiled()
def _advance(state: State, by_node: ByNode, seconds: float) -> int:
    """Replay until something is needed, all is over, or about so many seconds have passed.

    Return which of these it is (see `codes`); time runs out between two instants only. What is
    written begins where the counters say; the loop goes on where it was left.
    """
    counters, jobs = state.counters, state.jobs
    until = read_clock(state.clock) + seconds
    over = until
    submitted = len(state.batch_number)
    while True:
        if counters[PHASE] == NEXT_INSTANT:
            if over > until:
                return PAUSED
            if counters[NEXT] == submitted:
                if not state.batch_last:
                    return NEEDS_JOBS
                if counters[RUNNING] == 0:
                    return DONE
                counters[NOW] = jobs[state.ends[0], END]
            else:
                now = state.batch_submit_time[counters[NEXT]]
                if counters[RUNNING]:
                    now = min(now, jobs[state.ends[0], END])
                counters[NOW] = now
            counters[PHASE] = ENDS
        if counters[PHASE] == ENDS:
            if not _end_all(state, by_node):
                return OUTPUT_FULL
            counters[PHASE] = SUBMISSIONS
        if counters[PHASE] == SUBMISSIONS:
            now = counters[NOW]
            while counters[NEXT] < submitted and state.batch_submit_time[counters[NEXT]] == now:
                if counters[NEXT] == counters[FORESEEN]:
                    return NEEDS_PREDICTIONS
                if counters[FREE_ROW] == -1:
                    return NEEDS_ROWS
                submit(counters[NEXT], state, by_node)
                counters[NEXT] += 1
            if counters[NEXT] == submitted and not state.batch_last:
                return NEEDS_JOBS
            counters[PHASE] = ROUNDS
        if counters[PHASE] == ROUNDS:
            if counters[QUEUED]:
                if counters[OUT_ROUNDS] == len(state.out_rounds):
                    return OUTPUT_FULL
                needed = min(counters[CELL_DEMAND], counters[MOST_CELLS] - len(state.cells))
                if needed > 0 and counters[CELLS_FREE] < counters[CELL_DEMAND]:
                    return NEEDS_CELLS
                if state.correction == ASKED_FOR and any_outlived(counters[NOW], state):
                    return NEEDS_CORRECTIONS
                counters[ROUND] += 1
                counters[STARTED] = 0
                queued, running = counters[QUEUED], counters[RUNNING]
                began = read_clock(state.clock)
                decide(counters[NOW], state, by_node)
                if counters[STARTED]:
                    leave_queue(state)
                over = read_clock(state.clock)
                _write_round(began, over, queued, running, state)
                counters[ENDED_ANY] = 0
                counters[PHASE] = ZERO_ENDS
            else:
                counters[PHASE] = NEXT_INSTANT
        if counters[PHASE] == ZERO_ENDS:
            if not _end_all(state, by_node):
                return OUTPUT_FULL
            counters[PHASE] = ROUNDS if counters[ENDED_ANY] else NEXT_INSTANT


@compiled()
def advance_by_slot(state: State, seconds: float) -> int:
    """Replay where slots are counted; see `_advance`."""
    return _advance(state, None, seconds)


@compiled()
def advance_by_node(state: State, seconds: float) -> int:
    """Replay where units are placed node by node; see `_advance`."""
    return _advance(state, True, seconds)
