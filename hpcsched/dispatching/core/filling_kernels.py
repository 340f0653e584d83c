"""Compiled starts beside a plan: unplanned jobs that delay no planned one.

The first `STARTING` rows of the queue are jobs that the plan starts now. The next, up to `PLANNED`,
have later planned starts, in this order; the rest are not planned. Planned nodes are noted with
each job, as for other reservations (see `reservation_kernels`).
"""

from hpcsched.dispatching.core.announced_outage_kernels import counts_units
from hpcsched.dispatching.core.array_kernels import zeros
from hpcsched.dispatching.core.codes import (
    CELL,
    FIRST_MADE,
    LAST_MADE,
    NEVER,
    PLANNED,
    QUEUED,
    RESERVED,
    STARTING,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import Profile, State, Steps
from hpcsched.dispatching.core.fit_count_kernels import count_fits
from hpcsched.dispatching.core.node_profile_kernels import close_ahead, open_profile
from hpcsched.dispatching.core.overdue_kernels import by_shown_end
from hpcsched.dispatching.core.reservation_kernels import (
    drop_places,
    hold,
    reserve,
    start_beside,
    steps_of_round,
)
from hpcsched.dispatching.core.shared_resource_kernels import open_shared
from hpcsched.dispatching.core.start_kernels import (
    fits_now,
    pressure_on,
    start,
    start_where_placed,
)
from hpcsched.dispatching.core.state import ByNode, FloatArray
from hpcsched.dispatching.core.state_function import of_state
from hpcsched.system.system import IntArray


@of_state()
def fill_by_slot(state: State, now: int) -> None:
    """Start planned jobs and those that fit beside the plan, where slots are counted."""
    _fill(now, state, None)


@of_state()
def fill_by_node(state: State, now: int) -> None:
    """Start planned jobs and those that fit beside the plan, where units are placed on nodes."""
    count_fits(state)
    _fill(now, state, True)


@compiled()
def _fill(now: int, state: State, by_node: ByNode) -> None:
    counters, queue = state.counters, state.queue
    open_shared(now, state, state.shared_drawn)
    pressure = pressure_on(state)
    counted = counts_units(now, state)
    for k in range(counters[STARTING]):
        if by_node is None:
            start(queue[k], now, state, None, pressure)
        else:
            start_where_placed(queue[k], _take_up_places(queue[k], state), now, state)
    at = counters[PLANNED]
    while at < counters[QUEUED] and not fits_now(queue[at], state, by_node):
        at += 1
    # No job fits beside the plan: reservations for it would be made for nothing.
    if at == counters[QUEUED]:
        return
    counters[FIRST_MADE] = counters[LAST_MADE] = -1
    running = by_shown_end(now, state.correction, state)
    if by_node is None or counted:
        steps = steps_of_round(now, running, state, by_node)
        _keep_to_plan(now, steps, None, state)
        _start_rest(now, at, steps, None, state, by_node, pressure)
    else:
        profile = open_profile(now, running, state)
        close_ahead(now, profile, state, state.outage_nodes)
        _keep_to_plan(now, None, profile, state)
        _start_rest(now, at, None, profile, state, by_node, pressure)


@compiled()
def _take_up_places(row: int, state: State) -> IntArray:
    """Return the units noted for a job on each node, `[N]`, and delete the note."""
    cells, placed = state.cells, zeros(state.available.shape[1])
    cell = state.jobs[row, CELL]
    while cell != -1:
        placed[cells[cell, 0]] = cells[cell, 1]
        cell = cells[cell, 2]
    drop_places(row, state)
    return placed


@compiled()
def _keep_to_plan(now: int, steps: Steps | None, profile: Profile | None, state: State) -> None:
    """Reserve room for later planned starts, at the planned time or as soon as it fits.

    Plans on aggregated nodes may start jobs before there is room for them.
    """
    for k in range(state.counters[STARTING], state.counters[PLANNED]):
        row = state.queue[k]
        begin = state.jobs[row, RESERVED]
        if not hold(row, begin, steps, profile, state):
            reserve(row, begin, NEVER, now, steps, profile, state)


@compiled()
def _start_rest(
    now: int,
    at: int,
    steps: Steps | None,
    profile: Profile | None,
    state: State,
    by_node: ByNode,
    pressure: FloatArray,
) -> None:
    """Start each job from place `at` in the queue on that fits beside all others until its end."""
    for k in range(at, state.counters[QUEUED]):
        start_beside(state.queue[k], now, steps, profile, state, by_node, pressure)
