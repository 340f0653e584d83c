"""Compiled notes of events for what follows them in Python, and the jobs that it holds back.

Where nobody follows events, `events` is None, and compiled code has nothing of all this.
"""

from hpcsched.dispatching.core.codes import (
    ASKED_ROUND,
    CELL,
    CELL_DEMAND,
    CHANGED,
    DISMISSED,
    DISMISSED_JOB,
    EVENT_KIND,
    EVENT_NUMBER,
    EVENT_ROW,
    EVENT_TIME,
    EVENT_VALUE,
    HELD,
    HELD_BACK,
    HELD_BY_OTHERS,
    HELD_ROUND,
    NOW,
    OUT_EVENTS,
    OUT_ROUNDS,
    OUT_START_PLACES,
    PREDICTED,
    QUEUED,
    REJECTED_JOB,
    RELEASE,
    ROUND,
    SEQUENCE,
    SHAPE,
    STARTED,
    STARTED_JOB,
    SUBMITTED,
    SUBMITTED_JOB,
    TURNED,
    WATCHED,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import add_waiting, remove_waiting
from hpcsched.dispatching.core.job_kernels import forget, set_held
from hpcsched.dispatching.core.output_kernels import write_places
from hpcsched.dispatching.core.state import ByNode
from hpcsched.system.system import IntArray


@compiled()
def is_full(state: State, events: IntArray | None) -> bool:
    """Say whether another event cannot be written down."""
    return events is not None and bool(state.counters[OUT_EVENTS] == len(events))


@compiled()
def _note(kind: int, number: int, row: int, value: int, state: State, events: IntArray) -> None:
    """Write an event down; see `codes` for what its numbers are."""
    counters, event = state.counters, events[state.counters[OUT_EVENTS]]
    event[EVENT_KIND] = kind
    event[EVENT_TIME] = counters[NOW]
    event[EVENT_NUMBER] = number
    event[EVENT_ROW] = row
    event[EVENT_VALUE] = value
    counters[OUT_EVENTS] += 1


@compiled()
def note_submission(k: int, row: int, state: State, events: IntArray | None) -> None:
    """Note that job `k` of a batch was submitted, and has a row."""
    if events is None:
        return
    jobs = state.jobs
    jobs[row, WATCHED] = 1 if state.batch_watched[k] else 0
    if state.batch_watched[k]:
        state.counters[CHANGED] = 1
    _note(SUBMITTED_JOB, jobs[row, SEQUENCE], row, jobs[row, PREDICTED], state, events)


@compiled()
def note_refusal(k: int, state: State, events: IntArray | None, refused: IntArray | None) -> None:
    """Note that job `k` of a batch was submitted last, and refused."""
    if events is not None and refused is not None:
        if state.batch_watched[k]:
            state.counters[CHANGED] = 1
        number, predicted = state.counters[SUBMITTED] - 1, state.batch_predicted[k]
        _note(REJECTED_JOB, number, refused[k], predicted, state, events)


@compiled()
def note_end(kind: int, row: int, value: int, state: State, events: IntArray | None) -> None:
    """Note that a job stops running now."""
    if events is None:
        return
    if state.jobs[row, WATCHED]:
        state.counters[CHANGED] = 1
    _note(kind, state.jobs[row, SEQUENCE], row, value, state, events)


@compiled()
def has_room_for_round(state: State, events: IntArray | None) -> bool:
    """Say whether all starts of a round can be written down."""
    if events is None:
        return True
    counters = state.counters
    return bool(
        counters[OUT_EVENTS] + counters[QUEUED] + 1 < len(events)
        and counters[OUT_START_PLACES] + counters[CELL_DEMAND] <= len(state.start_nodes)
    )


@compiled()
def note_asked(state: State, events: IntArray | None) -> None:
    """Note that a rule is asked what to start, if it is shown any jobs."""
    if events is not None and state.counters[QUEUED]:
        _note(ASKED_ROUND, state.counters[ROUND], 0, 0, state, events)


@compiled()
def _note_dismissals(state: State, dismissed: IntArray | None) -> None:
    """Note the jobs that Python has rejected in a round, whose rows are free from now on."""
    if dismissed is None:
        return
    counters, jobs = state.counters, state.jobs
    for k in range(counters[DISMISSED]):
        row = dismissed[k]
        if jobs[row, WATCHED]:
            counters[CHANGED] = 1
        _note(DISMISSED_JOB, jobs[row, SEQUENCE], row, 0, state, state.events)
        forget(row, state)


@compiled()
def note_round(state: State, by_node: ByNode, events: IntArray | None) -> None:
    """Note the jobs that a round has started, with their places, those rejected, and the round."""
    if events is None:
        return
    counters, jobs = state.counters, state.jobs
    for k in range(counters[STARTED]):
        row = state.started[k]
        counters[OUT_START_PLACES] = place = write_places(
            jobs[row, CELL],
            counters[OUT_START_PLACES],
            state.start_nodes,
            state.start_units,
            state,
            by_node,
        )
        if jobs[row, WATCHED]:
            counters[CHANGED] = 1
        _note(STARTED_JOB, jobs[row, SEQUENCE], row, place, state, events)
    _note_dismissals(state, state.dismissed)
    _note(HELD_ROUND, counters[OUT_ROUNDS] - 1, 0, 0, state, events)


@compiled()
def or_release(event: int, state: State, turned: IntArray | None) -> int:
    """Return an event, or when a job that waits has waited long enough before it."""
    counters = state.counters
    # One that has passed is looked at in the next round.
    if turned is not None and counters[QUEUED] and counters[RELEASE] > counters[NOW]:
        event = min(event, counters[RELEASE])
    return event


@compiled()
def needs_look(state: State, turned: IntArray | None) -> bool:
    """Say whether other jobs may be held back now than in the last round."""
    counters = state.counters
    return turned is not None and bool(counters[CHANGED] or counters[RELEASE] <= counters[NOW])


@compiled()
def needs_second_look(state: State, turned: IntArray | None) -> bool:
    """Say whether jobs that were held back in a round may not be any more."""
    return turned is not None and bool(state.counters[HELD_BACK] and needs_look(state, turned))


@compiled()
def turn_about(state: State, by_node: ByNode, turned: IntArray | None) -> None:
    """Hold back the jobs in `turned`; or do not any more, if they are."""
    if turned is None:
        return
    counters, jobs = state.counters, state.jobs
    for k in range(counters[TURNED]):
        row = turned[k]
        held = jobs[row, HELD]
        set_held(row, HELD_BY_OTHERS, held & HELD_BY_OTHERS == 0, state)
        if by_node is not None:
            if held == 0:
                remove_waiting(jobs[row, SHAPE], state)
            elif jobs[row, HELD] == 0:
                add_waiting(jobs[row, SHAPE], state)
    counters[TURNED] = 0
