"""Compiled corrections of running jobs that have outlived their predictions."""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    ASKED_FOR,
    DOUBLING,
    ONE_SECOND,
    PLANNED_END,
    PREDICTED,
    REQUESTED,
    RUNNING,
    SHOWN_END,
    START,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.system.system import IntArray


@compiled()
def corrected_end(row: int, now: int, correction: int, jobs: IntArray) -> int:
    """Return the corrected end of a job that has outlived its prediction.

    Parameters
    ----------
    correction
        Code of the correction (`hpcsched.prediction.corrections`).
    jobs
        Table of jobs.

    Returns
    -------
    int
        End, in seconds, after now.
    """
    if correction == ASKED_FOR:
        return jobs[row, SHOWN_END]
    start, requested = jobs[row, START], jobs[row, REQUESTED]
    if correction == ONE_SECOND:
        return now + 1
    elapsed = now - start
    if correction == DOUBLING:
        run_time = jobs[row, PREDICTED]
        while run_time <= elapsed:
            run_time *= 2
        if requested > elapsed:
            run_time = min(run_time, requested)
        return start + run_time
    return start + max(requested, elapsed + 1)


@compiled()
def any_outlived(now: int, state: State) -> bool:
    """Check whether a running job has outlived its prediction and all corrections."""
    jobs, running = state.jobs, state.running
    for k in range(state.counters[RUNNING]):
        if jobs[running[k], PLANNED_END] > now:
            return False
        if jobs[running[k], SHOWN_END] <= now:
            return True
    return False


@compiled()
def by_shown_end(now: int, correction: int, state: State) -> IntArray:
    """Return the running rows by the end that rules see, which lies after now.

    Jobs that have outlived their prediction get a corrected end.

    Parameters
    ----------
    correction
        Code of the correction.

    Returns
    -------
    IntArray
        Rows in ascending order of `SHOWN_END`.
    """
    jobs, running, count = state.jobs, state.running, state.counters[RUNNING]
    # Rows are sorted by planned end, so that without an overdue one nothing is copied.
    if count == 0 or jobs[running[0], PLANNED_END] > now:
        return running[:count]
    ordered = numbers(count)
    overdue = 0
    while overdue < count and jobs[running[overdue], PLANNED_END] <= now:
        row = running[overdue]
        end = jobs[row, SHOWN_END] = corrected_end(row, now, correction, jobs)
        place = overdue
        while place and jobs[ordered[place - 1], SHOWN_END] > end:
            ordered[place] = ordered[place - 1]
            place -= 1
        ordered[place] = row
        overdue += 1
    # Both parts are in order; from the back, each is moved to where it belongs.
    left, right, at = overdue - 1, count - 1, count - 1
    while right >= overdue:
        if left >= 0 and jobs[ordered[left], SHOWN_END] > jobs[running[right], SHOWN_END]:
            ordered[at] = ordered[left]
            left -= 1
        else:
            ordered[at] = running[right]
            right -= 1
        at -= 1
    return ordered
