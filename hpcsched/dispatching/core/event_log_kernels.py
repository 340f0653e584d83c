"""Compiled event notification: the log of events for Python, and the jobs that it holds back.

Without observers, `events` is None and none of this is compiled.
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
    OUT_JOBS,
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
from hpcsched.dispatching.core.output_kernels import write_dismissal, write_places
from hpcsched.dispatching.core.state import ByNode
from hpcsched.system.system import IntArray


@compiled()
def is_full(state: State, events: IntArray | None) -> bool:
    """Check whether the table of events is full."""
    return events is not None and bool(state.counters[OUT_EVENTS] == len(events))


@compiled()
def _note(kind: int, number: int, row: int, value: int, state: State, events: IntArray) -> None:
    """Append an event; see `codes` for its columns."""
    counters, event = state.counters, events[state.counters[OUT_EVENTS]]
    event[EVENT_KIND] = kind
    event[EVENT_TIME] = counters[NOW]
    event[EVENT_NUMBER] = number
    event[EVENT_ROW] = row
    event[EVENT_VALUE] = value
    counters[OUT_EVENTS] += 1


@compiled()
def note_submission(k: int, row: int, state: State, events: IntArray | None) -> None:
    """Log the submission of job `k` of a batch.

    Parameters
    ----------
    k
        Number of the job in its batch.
    events
        Table of events; None without observers.
    """
    if events is None:
        return
    jobs = state.jobs
    jobs[row, WATCHED] = 1 if state.batch_watched[k] else 0
    if state.batch_watched[k]:
        state.counters[CHANGED] = 1
    _note(SUBMITTED_JOB, jobs[row, SEQUENCE], row, jobs[row, PREDICTED], state, events)


@compiled()
def note_refusal(k: int, state: State, events: IntArray | None, refused: IntArray | None) -> None:
    """Log the submission and refusal of job `k` of a batch.

    Parameters
    ----------
    k
        Number of the job in its batch.
    events
        Table of events; None without observers.
    refused
        Cause of the refusal of each job; None if none is refused.
    """
    if events is not None and refused is not None:
        if state.batch_watched[k]:
            state.counters[CHANGED] = 1
        number, predicted = state.counters[SUBMITTED] - 1, state.batch_predicted[k]
        _note(REJECTED_JOB, number, refused[k], predicted, state, events)


@compiled()
def note_end(kind: int, row: int, value: int, state: State, events: IntArray | None) -> None:
    """Log that a job stops running now.

    Parameters
    ----------
    kind
        Kind of the event (see `codes`).
    value
        Value of the event.
    events
        Table of events; None without observers.
    """
    if events is None:
        return
    if state.jobs[row, WATCHED]:
        state.counters[CHANGED] = 1
    _note(kind, state.jobs[row, SEQUENCE], row, value, state, events)


@compiled()
def has_room_for_round(state: State, events: IntArray | None) -> bool:
    """Check whether the tables have room for all starts and rejections of a round."""
    if events is None:
        return True
    counters = state.counters
    return bool(
        counters[OUT_EVENTS] + counters[QUEUED] + 1 < len(events)
        and counters[OUT_JOBS] + counters[DISMISSED] <= len(state.out_jobs)
        and counters[OUT_START_PLACES] + counters[CELL_DEMAND] <= len(state.start_nodes)
    )


@compiled()
def note_asked(state: State, events: IntArray | None) -> None:
    """Log the decision request of a round with visible jobs."""
    if events is not None and state.counters[QUEUED]:
        _note(ASKED_ROUND, state.counters[ROUND], 0, 0, state, events)


@compiled()
def _note_dismissals(state: State, dismissed: IntArray | None) -> None:
    """Log and write the jobs that Python has rejected in a round, and free their rows."""
    if dismissed is None:
        return
    counters, jobs = state.counters, state.jobs
    for k in range(counters[DISMISSED]):
        row = dismissed[k]
        if jobs[row, WATCHED]:
            counters[CHANGED] = 1
        _note(DISMISSED_JOB, jobs[row, SEQUENCE], row, 0, state, state.events)
        write_dismissal(row, state)
        forget(row, state)


@compiled()
def note_round(state: State, by_node: ByNode, events: IntArray | None) -> None:
    """Log the starts of a round with their places, the rejections, and the round itself.

    Parameters
    ----------
    events
        Table of events; None without observers.
    """
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
    """Return the earlier of an event and the next release of a job that is held back."""
    counters = state.counters
    # One that has passed is looked at in the next round.
    if turned is not None and counters[QUEUED] and counters[RELEASE] > counters[NOW]:
        event = min(event, counters[RELEASE])
    return event


@compiled()
def needs_look(state: State, turned: IntArray | None) -> bool:
    """Check whether the set of jobs that are held back may have changed since the last round."""
    counters = state.counters
    return turned is not None and bool(counters[CHANGED] or counters[RELEASE] <= counters[NOW])


@compiled()
def needs_second_look(state: State, turned: IntArray | None) -> bool:
    """Check whether jobs that were held back in a round may be released now."""
    return turned is not None and bool(state.counters[HELD_BACK] and needs_look(state, turned))


@compiled()
def turn_about(state: State, by_node: ByNode, turned: IntArray | None) -> None:
    """Hold back the jobs in `turned`, or release those that are held back.

    Parameters
    ----------
    turned
        Rows of the jobs; None where Python holds no jobs back.
    """
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
