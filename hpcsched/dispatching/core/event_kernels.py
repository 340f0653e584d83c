"""Compiled event loop: ends, outages, submissions, then rounds, instant by instant."""

from hpcsched.dispatching.core.clock import seconds as read_clock
from hpcsched.dispatching.core.codes import (
    ASKED_FOR,
    ASKED_QUEUED,
    ASKED_RUNNING,
    ASKED_SHOWN,
    CALL_AGAIN,
    CELL_DEMAND,
    CELLS_FREE,
    DONE,
    DUE,
    END,
    ENDED,
    ENDED_ANY,
    ENDED_JOB,
    ENDS,
    FLIGHT,
    FLYING_CHANGED,
    FORESEEN,
    FREE_ROW,
    HELD_BACK,
    LAST_EVENT,
    LOOKS,
    MOST_CELLS,
    NEEDS_CELLS,
    NEEDS_CHARGE,
    NEEDS_CORRECTIONS,
    NEEDS_DECISION,
    NEEDS_JOBS,
    NEEDS_LOOK,
    NEEDS_ORDER,
    NEEDS_PREDICTIONS,
    NEEDS_ROWS,
    NEEDS_SECOND_LOOK,
    NEEDS_SHAPES,
    NEVER,
    NEXT,
    NEXT_INSTANT,
    NOW,
    ORDERED,
    OUT_ROUNDS,
    OUTAGES,
    OUTPUT_FULL,
    PAUSED,
    PAUSED_AT,
    PHASE,
    QUEUED,
    ROUND,
    ROUNDS,
    RUNNING,
    STARTED,
    SUBMISSIONS,
    ZERO_ENDS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.event_log_kernels import (
    has_room_for_round,
    is_full,
    needs_look,
    needs_second_look,
    note_asked,
    note_end,
    note_refusal,
    note_round,
    note_submission,
    or_release,
    turn_about,
)
from hpcsched.dispatching.core.job_kernels import (
    end_first,
    hold_back,
    leave_queue,
    submit,
)
from hpcsched.dispatching.core.narrowing_kernels import narrow_all
from hpcsched.dispatching.core.outage_kernels import or_change, pass_outages
from hpcsched.dispatching.core.output_kernels import (
    is_refused,
    write_job,
    write_refusal,
    write_round,
)
from hpcsched.dispatching.core.overdue_kernels import any_outlived
from hpcsched.dispatching.core.pending_decision_kernels import (
    carry_out,
    flies,
    fly,
    is_to_ask,
    take_answer,
    take_back,
    write_flight,
)
from hpcsched.dispatching.core.queue_order_kernels import in_python
from hpcsched.dispatching.core.shared_draw_kernels import write_level
from hpcsched.dispatching.core.shared_offer_kernels import or_offer
from hpcsched.dispatching.core.state import ByNode, FloatArray
from hpcsched.dispatching.core.state_function import call_code, of_state
from hpcsched.system.system import IntArray


@compiled()
def _end_all(state: State, by_node: ByNode) -> bool:
    """End all jobs that end now; return False if the output tables are full."""
    counters, jobs, ends = state.counters, state.jobs, state.ends
    # Checked before each end, so that a full table can be emptied and the phase entered again.
    while counters[RUNNING] and jobs[ends[0], END] == counters[NOW]:
        if is_full(state, state.events) or not write_job(ends[0], ENDED, state, by_node):
            return False
        note_end(ENDED_JOB, ends[0], 0, state, state.events)
        counters[ENDED_ANY] = 1
        end_first(state, by_node)
    return True


@compiled()
def _next_instant(state: State) -> int:
    """Return the time of the next event; `NEVER` if none is left."""
    counters, event = state.counters, NEVER
    # A batch that is used up is no end: the caller brings the next one first.
    if counters[NEXT] < len(state.batch_number):
        event = state.batch_submit_time[counters[NEXT]]
    if counters[RUNNING]:
        event = min(event, state.jobs[state.ends[0], END])
    if counters[QUEUED] and counters[CALL_AGAIN] != NEVER:
        # A time that has passed while a decision was pending is made up for at once.
        event = min(event, max(counters[CALL_AGAIN], counters[NOW] + 1))
    event = or_change(or_release(event, state, state.turned), state, state.down)
    return or_offer(event, state, state.shared_free)


@compiled()
def _is_to_correct(state: State) -> bool:
    """Check whether Python must correct predictions before a round."""
    return state.correction == ASKED_FOR and any_outlived(state.counters[NOW], state)


@compiled()
def _is_to_order(state: State) -> bool:
    """Check whether Python must sort the queue before a round."""
    if not in_python(state.by_wait) and not in_python(state.behind_by_wait):
        return False
    counters = state.counters
    return bool(counters[ORDERED] == 0 and counters[QUEUED] > counters[HELD_BACK])


@compiled()
def _hold_round(
    state: State, by_node: ByNode, lost: IntArray | None, dismissed: IntArray | None
) -> float:
    """Hold a round; return the clock reading at its end.

    Starts are the rule's or Python's. Where decisions take simulated time, starts are taken back
    until the decision is due.
    """
    if dismissed is not None:
        if take_answer(state, lost):
            _land(state, by_node, lost, state.decision_seconds)
            state.counters[PHASE] = LOOKS
        return read_clock(state.clock)
    counters = state.counters
    counters[ROUND] += 1
    counters[STARTED] = counters[ENDED_ANY] = counters[ORDERED] = 0
    queued, running, event = counters[QUEUED], counters[RUNNING], counters[LAST_EVENT]
    began = read_clock(state.clock)
    hold_back(state)
    # Where all jobs are held back nothing is decided, and that takes no time.
    is_shown = counters[QUEUED] > 0
    note_asked(state, state.events)
    call_code(state.decides, state, counters[NOW])
    if lost is not None:
        over = read_clock(state.clock)
        state.decision_seconds[0] = over - began if is_shown else 0.0
        take_back(queued, running, state, by_node)
        # A start that is taken back is no event. If it were one, jobs whose starts are always too
        # late for what shared resources offer would be tried for ever.
        counters[LAST_EVENT] = event
        return over
    # Most rounds start nothing, and then the queue is as it was.
    if counters[STARTED] or counters[HELD_BACK]:
        leave_queue(state)
    over = read_clock(state.clock)
    write_round(over - began if is_shown else 0.0, queued, running, state)
    note_round(state, by_node, state.events)
    counters[PHASE] = LOOKS
    return over


@compiled()
def _land(
    state: State, by_node: ByNode, lost: IntArray | None, decision_seconds: FloatArray | None
) -> None:
    """Apply the decision that is due."""
    if decision_seconds is None:
        return
    counters = state.counters
    carry_out(state, by_node)
    write_round(decision_seconds[0], counters[ASKED_QUEUED], counters[ASKED_RUNNING], state)
    if lost is not None:
        write_flight(state, lost)
        counters[ENDED_ANY] = counters[FLYING_CHANGED]
    note_round(state, by_node, state.events)


@compiled()
def _is_to_pause(seconds: float, counters: IntArray) -> bool:
    """Check whether the loop pauses between two instants, and note that it has."""
    if seconds >= 0 or counters[PAUSED_AT] == counters[NOW]:
        return False
    counters[PAUSED_AT] = counters[NOW]
    return True


@compiled()
def _advance(state: State, by_node: ByNode, seconds: float) -> int:
    """Replay until something is needed, the replay is over, or `seconds` of real time have passed.

    Parameters
    ----------
    by_node
        True where units are placed node by node, None where slots are counted.
    seconds
        Real time after which the loop pauses between two instants; negative: after each instant.

    Returns
    -------
    int
        Code of the cause of the return (see `codes`). Output begins where the counters say, and the
        next call continues where this one stopped.
    """
    counters = state.counters
    until = read_clock(state.clock) + seconds
    over = until
    submitted = len(state.batch_number)
    while True:
        if counters[PHASE] == NEXT_INSTANT:
            if not write_level(state, state.shared_drawn):
                return OUTPUT_FULL
            if over > until or _is_to_pause(seconds, counters):
                return PAUSED
            if counters[NEXT] == submitted and not state.batch_last:
                return NEEDS_JOBS
            now = _next_instant(state)
            if now == NEVER:
                return DONE
            counters[NOW] = now
            counters[PHASE] = ENDS
        if counters[PHASE] == ENDS:
            if not _end_all(state, by_node):
                return OUTPUT_FULL
            counters[PHASE] = OUTAGES
        if counters[PHASE] == OUTAGES:
            if not pass_outages(state, state.down):
                return OUTPUT_FULL
            counters[PHASE] = SUBMISSIONS
        if counters[PHASE] == SUBMISSIONS:
            now = counters[NOW]
            while counters[NEXT] < submitted and state.batch_submit_time[counters[NEXT]] == now:
                if counters[NEXT] == counters[FORESEEN]:
                    return NEEDS_PREDICTIONS
                if is_full(state, state.events):
                    return OUTPUT_FULL
                if is_refused(counters[NEXT], state.batch_refused):
                    if not write_refusal(counters[NEXT], state, state.batch_refused):
                        return OUTPUT_FULL
                    note_refusal(counters[NEXT], state, state.events, state.batch_refused)
                    counters[NEXT] += 1
                    continue
                if counters[FREE_ROW] == -1:
                    return NEEDS_ROWS
                row = submit(counters[NEXT], state, by_node)
                note_submission(counters[NEXT], row, state, state.events)
                counters[NEXT] += 1
            if counters[NEXT] == submitted and not state.batch_last:
                return NEEDS_JOBS
            counters[PHASE] = FLIGHT if flies(state, state.lost) else ROUNDS
        if counters[PHASE] == ROUNDS:
            if counters[QUEUED]:
                if counters[OUT_ROUNDS] == len(state.out_rounds) or not has_room_for_round(
                    state, state.events
                ):
                    return OUTPUT_FULL
                needed = min(counters[CELL_DEMAND], counters[MOST_CELLS] - len(state.cells))
                if needed > 0 and counters[CELLS_FREE] < counters[CELL_DEMAND]:
                    return NEEDS_CELLS
                if not narrow_all(counters[NOW], state, state.down):
                    return NEEDS_SHAPES
                if needs_look(state, state.turned):
                    return NEEDS_LOOK
                turn_about(state, by_node, state.turned)
                if counters[QUEUED] > counters[HELD_BACK] and _is_to_correct(state):
                    return NEEDS_CORRECTIONS
                if _is_to_order(state):
                    return NEEDS_ORDER
                if is_to_ask(counters, state.dismissed):
                    return NEEDS_DECISION
                over = _hold_round(state, by_node, state.lost, state.dismissed)
                if counters[PHASE] == FLIGHT and counters[ASKED_SHOWN]:
                    return NEEDS_CHARGE
            else:
                counters[PHASE] = NEXT_INSTANT
        if counters[PHASE] == FLIGHT and counters[NOW] < counters[DUE]:
            if not write_level(state, state.shared_drawn):
                return OUTPUT_FULL
            if over > until or _is_to_pause(seconds, counters):
                return PAUSED
            if counters[NEXT] == submitted and not state.batch_last:
                return NEEDS_JOBS
            if fly(_next_instant(state), state, state.lost):
                counters[PHASE] = ENDS
            continue
        if counters[PHASE] == FLIGHT:
            if not has_room_for_round(state, state.events):
                return OUTPUT_FULL
            _land(state, by_node, state.lost, state.decision_seconds)
            counters[PHASE] = LOOKS
        if counters[PHASE] == LOOKS:
            if needs_second_look(state, state.turned):
                return NEEDS_SECOND_LOOK
            counters[PHASE] = ZERO_ENDS
        if counters[PHASE] == ZERO_ENDS:
            if not _end_all(state, by_node):
                return OUTPUT_FULL
            # Jobs of run time 0 end in the instant of their start, and free room for another round.
            counters[PHASE] = ROUNDS if counters[ENDED_ANY] else NEXT_INSTANT


@of_state()
def advance_by_slot(state: State, seconds: float) -> int:
    """Replay where slots are counted; see `_advance`.

    Parameters
    ----------
    seconds
        Real time after which the loop pauses; negative: after each instant.

    Returns
    -------
    int
        Code of the cause of the return.
    """
    return _advance(state, None, seconds)


@of_state()
def advance_by_node(state: State, seconds: float) -> int:
    """Replay where units are placed node by node; see `_advance`.

    Parameters
    ----------
    seconds
        Real time after which the loop pauses; negative: after each instant.

    Returns
    -------
    int
        Code of the cause of the return.
    """
    return _advance(state, True, seconds)
