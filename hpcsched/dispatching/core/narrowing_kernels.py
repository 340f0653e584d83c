"""Compiled narrowing of requests to the nodes that stay in service for a job.

These are the nodes that are up, and that no announced outage takes before the job's predicted end
if it starts now. A request on fewer nodes is another shape. A job for which these nodes are too few
even if they are idle is held back.
"""

from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    ACTIVE_SHAPES,
    CHANGED,
    CLOSED,
    HELD,
    HELD_BY_OUTAGES,
    LIMITS,
    PREDICTED,
    QUEUED,
    REQUEST,
    REQUESTS,
    SHAPE,
    SHAPES,
    SPAN,
    STALE,
    UNITS,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.fit_count_kernels import add_waiting, remove_waiting
from hpcsched.dispatching.core.job_kernels import set_held
from hpcsched.dispatching.core.shared_draw_kernels import count_nodes
from hpcsched.system.system import IntArray


@compiled()
def narrow_all(now: int, state: State, down: IntArray | None) -> bool:
    """Narrow the requests of all queued jobs to the nodes that stay in service for them.

    Parameters
    ----------
    down
        Number of outages of each node, `[N]`; None without outages.

    Returns
    -------
    bool
        False if the table of shapes is full; the next call continues there.
    """
    if down is None:
        return True
    counters, jobs, limits = state.counters, state.jobs, state.limits
    if counters[STALE]:
        _forget_all(state)
        counters[STALE] = 0
    for k in range(counters[QUEUED]):
        row = state.queue[k]
        end, span = now + jobs[row, PREDICTED], 0
        while span < counters[LIMITS] and limits[span] < end:
            span += 1
        # Most jobs reach as many limits as in the round before, and keep their shape.
        if jobs[row, SPAN] == span:
            continue
        shape = _narrowed(jobs[row, REQUEST], span, state)
        if shape == -1:
            return False
        held = jobs[row, HELD]
        if jobs[row, SPAN] >= 0 and held == 0:
            remove_waiting(jobs[row, SHAPE], state)
        jobs[row, SPAN] = span
        jobs[row, SHAPE] = shape
        too_few = shape >= counters[REQUESTS] and jobs[row, UNITS] > state.room[shape]
        set_held(row, HELD_BY_OUTAGES, too_few, state)
        if jobs[row, HELD] == 0:
            add_waiting(shape, state)
        if jobs[row, HELD] != held:
            counters[CHANGED] = 1
    return True


@compiled()
def _forget_all(state: State) -> None:
    """Clear the shapes of queued jobs, and all narrowed shapes."""
    counters, jobs = state.counters, state.jobs
    for k in range(counters[ACTIVE_SHAPES]):
        state.shape_waiting[state.active[k]] = 0
    for k in range(counters[QUEUED]):
        jobs[state.queue[k], SPAN] = -1
    counters[ACTIVE_SHAPES] = 0
    counters[SHAPES] = counters[REQUESTS]


@compiled()
def _is_open(node: int, span: int, state: State) -> bool:
    """Check whether a node is up and stays up for jobs that reach `span` limits."""
    if state.closed[node]:
        return False
    return span == 0 or bool(state.clear_until[node] > state.limits[span - 1])


@compiled()
def _narrowed(request: int, span: int, state: State) -> int:
    """Return the shape of a request on its open nodes; -1 if the table of shapes is full."""
    counters, narrowed, may_use = state.counters, state.narrowed, state.may_use
    if span == 0 and counters[CLOSED] == 0:
        return request
    new = counters[SHAPES]
    for shape in range(counters[REQUESTS], new):
        if narrowed[shape] == request and state.narrowed_span[shape] == span:
            return shape
    nodes = numbers(may_use.shape[1])
    for node in range(len(nodes)):
        nodes[node] = may_use[request, node] and _is_open(node, span, state)
    # Requests that differ in their allowed nodes may not differ in those that are open.
    for shape in range(counters[REQUESTS], new):
        if state.kind[shape] == state.kind[request] and state.narrowed_span[shape] == span:
            same = True
            for node in range(len(nodes)):
                same = same and may_use[shape, node] == (nodes[node] != 0)
            if same:
                return shape
    if new == len(narrowed):
        return -1
    counters[SHAPES] += 1
    narrowed[new], state.narrowed_span[new] = request, span
    state.kind[new] = state.kind[request]
    state.exclusive[new] = state.exclusive[request]
    state.uncountable[new] = state.uncountable[request]
    for r in range(state.asked.shape[1]):
        state.asked[new, r] = state.asked[request, r]
    room = 0
    for node in range(len(nodes)):
        may_use[new, node] = nodes[node] != 0
        state.on_idle[new, node] = state.on_idle[request, node] if nodes[node] else 0
        room += state.on_idle[new, node]
    state.room[new] = room
    count_nodes(new, state, state.shared_nodes)
    return new
