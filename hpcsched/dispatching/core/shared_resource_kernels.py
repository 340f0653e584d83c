"""Compiled shared resources: offered amounts, draws, and free amounts in plans.

Free amounts of all shared resources from now on are a list of steps: `shared_free[k]`, `[P]`, from
`shared_time[k]` to before the next, the last for ever. Changes of capacity are merged in as far
ahead as they are needed, since they may recur without end. Without shared resources, each field is
None.
"""

from hpcsched.dispatching.core.array_kernels import numbers, table, zeros
from hpcsched.dispatching.core.codes import (
    CELL,
    NEVER,
    PREDICTED,
    SHAPE,
    SHARED_LAST,
    SHARED_STEPS,
    SHARED_UPTO,
    SHOWN_END,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.shared_offer_kernels import next_offer, offered
from hpcsched.system.system import IntArray


@compiled()
def _most_draw(row: int, state: State) -> IntArray:
    """Return an upper bound on a job's draw, `[P]`: as if no other job ran on its nodes."""
    jobs, draw = state.jobs, numbers(len(state.shared_node))
    nodes = min(jobs[row, UNITS], state.shared_nodes[jobs[row, SHAPE]])
    for p in range(len(draw)):
        draw[p] = state.shared_own[row, p] + nodes * state.shared_node[p]
    return draw


@compiled()
def _make_steps(more: int, state: State) -> None:
    """Enlarge the list of steps, if needed, to hold some more."""
    used, size = state.counters[SHARED_STEPS], len(state.shared_time)
    if used + more <= size:
        return
    time, free = numbers(2 * (size + more)), table(2 * (size + more), state.shared_free.shape[1])
    for k in range(used):
        time[k] = state.shared_time[k]
        for p in range(free.shape[1]):
            free[k, p] = state.shared_free[k, p]
    state.shared_time = time
    state.shared_free = free


@compiled()
def open_shared(now: int, state: State, drawn: IntArray | None) -> None:
    """Write the free amounts from now on, given the ends of running jobs.

    A node that is on draws until the last job on it ends.

    Parameters
    ----------
    drawn
        Drawn amounts, `[P]`; None without shared resources.
    """
    if drawn is None:
        return
    jobs, cells, counters = state.jobs, state.cells, state.counters
    ends = by_shown_end(now, state.correction, state)
    counters[SHARED_STEPS], counters[SHARED_UPTO], counters[SHARED_LAST] = 0, now, now
    _make_steps(len(ends) + 1, state)
    time, free, on_until = state.shared_time, state.shared_free, state.shared_on_until
    last = zeros(len(on_until))
    for node in range(len(on_until)):
        on_until[node] = now
    # Ends ascend, so the last job that is seen on a node is the one that frees it.
    for k in range(len(ends)):
        cell = jobs[ends[k], CELL]
        while cell != -1:
            on_until[cells[cell, 0]] = jobs[ends[k], SHOWN_END]
            last[cells[cell, 0]] = k
            cell = cells[cell, 2]
    time[0] = now
    for p in range(len(drawn)):
        free[0, p] = offered(p, now, state) - drawn[p]
    steps = 1
    # Jobs that end in the same second make one step.
    for k in range(len(ends)):
        row = ends[k]
        if jobs[row, SHOWN_END] != time[steps - 1]:
            time[steps] = jobs[row, SHOWN_END]
            for p in range(len(drawn)):
                free[steps, p] = free[steps - 1, p]
            steps += 1
        nodes, cell = 0, jobs[row, CELL]
        while cell != -1:
            if last[cells[cell, 0]] == k:
                nodes += 1
            cell = cells[cell, 2]
        for p in range(len(drawn)):
            free[steps - 1, p] += state.shared_own[row, p] + nodes * state.shared_node[p]
        counters[SHARED_LAST] = jobs[row, SHOWN_END]
    counters[SHARED_STEPS] = steps


@compiled()
def _split(time: int, state: State) -> int:
    """Return the step that begins at a time, made if needed; the number of steps for `NEVER`."""
    counters = state.counters
    k = counters[SHARED_STEPS]
    if time == NEVER:
        return k
    while state.shared_time[k - 1] > time:
        k -= 1
    if state.shared_time[k - 1] == time:
        return k - 1
    _make_steps(1, state)
    times, free = state.shared_time, state.shared_free
    for i in range(counters[SHARED_STEPS], k, -1):
        times[i] = times[i - 1]
        for p in range(free.shape[1]):
            free[i, p] = free[i - 1, p]
    times[k] = time
    for p in range(free.shape[1]):
        free[k, p] = free[k - 1, p]
    counters[SHARED_STEPS] += 1
    return k


@compiled()
def _take(begin: int, end: int, draw: IntArray, sign: int, state: State) -> None:
    """Subtract a draw, `[P]`, from the free amounts from `begin` to `end`; add it with sign -1."""
    first = _split(begin, state)
    for k in range(first, _split(end, state)):
        for p in range(len(draw)):
            state.shared_free[k, p] -= sign * draw[p]


@compiled()
def _work_in(until: int, state: State) -> None:
    """Merge in the changes of capacity before a time."""
    counters, more = state.counters, numbers(len(state.shared_node))
    change = next_offer(counters[SHARED_UPTO], state)
    while change < until:
        for p in range(len(more)):
            more[p] = offered(p, change, state) - offered(p, counters[SHARED_UPTO], state)
        _take(change, NEVER, more, -1, state)
        counters[SHARED_UPTO] = change
        change = next_offer(change, state)


@compiled()
def _last_lack(begin: int, end: int, draw: IntArray, state: State) -> int:
    """Return the last step from `begin` to `end` with too little for a draw; -1 if none."""
    _work_in(end, state)
    times, free = state.shared_time, state.shared_free
    k = state.counters[SHARED_STEPS] - 1
    # From the back, since the last step that is short is wanted.
    while k >= 0 and times[k] >= end:
        k -= 1
    while k >= 0:
        for p in range(len(draw)):
            if draw[p] and draw[p] > free[k, p]:
                return k
        if times[k] <= begin:
            return -1
        k -= 1
    return -1


@compiled()
def _suffice(begin: int, end: int, draw: IntArray, state: State) -> bool:
    """Check whether all shared resources offer a draw, `[P]`, from `begin` to `end`."""
    return _last_lack(begin, end, draw, state) == -1


@compiled()
def _as_soon(time: int, state: State) -> int:
    """Return the first time that is equivalent to another for jobs that start then.

    Once nothing is taken any more, each period equals the one before. So changes of capacity need
    not be merged in up to distant times.
    """
    period = state.shared_period
    if period == 0:
        return time
    alike = max(state.counters[SHARED_LAST], state.shared_settled)
    return time - max(time - alike, 0) // period * period


@compiled()
def shared_suffice(row: int, begin: int, state: State, shared_free: IntArray | None) -> bool:
    """Check whether shared resources suffice for a job from a start to its predicted end.

    Parameters
    ----------
    begin
        Start, in seconds.

    Returns
    -------
    bool
        Whether they suffice.
    """
    if shared_free is None:
        return True
    begin = _as_soon(begin, state)
    return _suffice(begin, begin + state.jobs[row, PREDICTED], _most_draw(row, state), state)


@compiled()
def shared_short_of(row: int, begin: int, state: State, shared_free: IntArray | None) -> int:
    """Return a shared resource that is short for a job from a start to its predicted end.

    Parameters
    ----------
    begin
        Start, in seconds.

    Returns
    -------
    int
        A shared resource that is short at the last such time; -1 if there is none.
    """
    if shared_free is None:
        return -1
    draw = _most_draw(row, state)
    k = _last_lack(begin, begin + state.jobs[row, PREDICTED], draw, state)
    if k != -1:
        for p in range(len(draw)):
            if draw[p] and draw[p] > state.shared_free[k, p]:
                return p
    return -1


@compiled()
def earliest_in_shared(row: int, begin: int, state: State, shared_free: IntArray | None) -> int:
    """Return the earliest start of a job at which shared resources suffice.

    Parameters
    ----------
    begin
        Earliest start, in seconds.

    Returns
    -------
    int
        Start, in seconds; `NEVER` if there is none.
    """
    if shared_free is None:
        return begin
    counters, draw, run_time = state.counters, _most_draw(row, state), state.jobs[row, PREDICTED]
    sooner = begin - _as_soon(begin, state)
    begin -= sooner
    # Later on nothing is taken, and each period is like the one before.
    limit = max(begin, counters[SHARED_LAST], state.shared_settled) + state.shared_period
    start = begin
    while start <= limit:
        found = _last_lack(start, start + run_time, draw, state)
        if found == -1:
            return start + sooner
        # The step ends with the next one, or with a change that is not worked in yet.
        start = next_offer(counters[SHARED_UPTO], state)
        if found + 1 < counters[SHARED_STEPS]:
            start = min(start, state.shared_time[found + 1])
    return NEVER


@compiled()
def reserve_shared(
    row: int, begin: int, sign: int, state: State, shared_free: IntArray | None
) -> None:
    """Reserve a job's draw from a start to its predicted end.

    Parameters
    ----------
    begin
        Start, in seconds; `NEVER` reserves nothing.
    sign
        1 to reserve, -1 to give back.
    """
    if shared_free is None or begin == NEVER:
        return
    end = begin + state.jobs[row, PREDICTED]
    state.counters[SHARED_LAST] = max(state.counters[SHARED_LAST], end)
    _take(begin, end, _most_draw(row, state), sign, state)


@compiled()
def draw_for_start(
    row: int, placed: IntArray, now: int, state: State, shared_free: IntArray | None
) -> None:
    """Subtract the draw of a job that starts now.

    A node that is on already draws more only from the time when it would have been switched off.

    Parameters
    ----------
    placed
        Units on each node, `[N]`.
    """
    if shared_free is None:
        return
    end, on_until = now + state.jobs[row, PREDICTED], state.shared_on_until
    state.counters[SHARED_LAST] = max(state.counters[SHARED_LAST], end)
    draw = numbers(len(state.shared_node))
    for p in range(len(draw)):
        draw[p] = state.shared_own[row, p]
    _take(now, end, draw, 1, state)
    for node in range(len(placed)):
        if placed[node] and on_until[node] < end:
            _take(on_until[node], end, state.shared_node, 1, state)
            on_until[node] = end


@compiled()
def draws_less(row: int, state: State, shared_free: IntArray | None) -> bool:
    """Check whether a job that has started draws less than was reserved for it.

    It does if it shares nodes with other jobs, or is on fewer nodes than it might have taken.
    """
    if shared_free is None:
        return False
    if not state.shared_node.any():
        return False
    nodes, cell = 0, state.jobs[row, CELL]
    while cell != -1:
        if state.shared_jobs_on[state.cells[cell, 0]] == 1:
            nodes += 1
        cell = state.cells[cell, 2]
    return bool(nodes < min(state.jobs[row, UNITS], state.shared_nodes[state.jobs[row, SHAPE]]))


@compiled()
def overdraws(row: int, now: int, state: State, drawn: IntArray | None) -> bool:
    """Check whether a pending job on the nodes in its cells draws more than is free now.

    Parameters
    ----------
    drawn
        Drawn amounts, `[P]`; None without shared resources.

    Returns
    -------
    bool
        Whether a shared resource is short.
    """
    if drawn is None:
        return False
    nodes, cell = 0, state.jobs[row, CELL]
    while cell != -1:
        if state.shared_jobs_on[state.cells[cell, 0]] == 0:
            nodes += 1
        cell = state.cells[cell, 2]
    for p in range(len(drawn)):
        draw = state.shared_own[row, p] + nodes * state.shared_node[p]
        if draw and draw > offered(p, now, state) - drawn[p]:
            return True
    return False


@compiled()
def leaves_shared_to(
    head: int, time: int, row: int, now: int, state: State, shared_free: IntArray | None
) -> bool:
    """Check whether shared resources suffice for a head job at its time if another job starts now.

    Parameters
    ----------
    head
        Row of the head job.
    time
        Its reserved start, in seconds.
    row
        Row of the other job.

    Returns
    -------
    bool
        Whether they suffice.
    """
    if shared_free is None:
        return True
    draw, end = _most_draw(row, state), now + state.jobs[row, PREDICTED]
    # Taken for the check and given back, which needs no copy of the steps.
    _take(now, end, draw, 1, state)
    leaves = shared_suffice(head, time, state, shared_free)
    _take(now, end, draw, -1, state)
    return leaves
