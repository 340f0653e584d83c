"""Compiled accounts of the draws of running jobs on shared resources."""

from hpcsched.dispatching.core.codes import CELL, LAST_EVENT, MOVED, NOW, OUT_LEVELS
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.system.system import IntArray


@compiled()
def take_draws(k: int, row: int, state: State, own: IntArray | None) -> None:
    """Store the draw of job `k` of a batch that does not depend on its nodes."""
    if own is None:
        return
    for p in range(own.shape[1]):
        own[row, p] = state.batch_draws[k, p]


@compiled()
def count_nodes(shape: int, state: State, shared_nodes: IntArray | None) -> None:
    """Count the idle nodes that can hold a unit of a shape."""
    if shared_nodes is None:
        return
    shared_nodes[shape] = 0
    for node in range(state.on_idle.shape[1]):
        if state.on_idle[shape, node]:
            shared_nodes[shape] += 1


@compiled()
def switch(row: int, sign: int, state: State, drawn: IntArray | None) -> None:
    """Add the draw of a job that starts (sign 1), or subtract the draw of one that ends (-1).

    Parameters
    ----------
    row
        Row of the job, with its places in cells.
    sign
        1 or -1.
    drawn
        Drawn amounts, `[P]`; updated. None without shared resources.
    """
    if drawn is None:
        return
    counters, cells, jobs_on = state.counters, state.cells, state.shared_jobs_on
    nodes, cell = 0, state.jobs[row, CELL]
    while cell != -1:
        node = cells[cell, 0]
        before = jobs_on[node]
        jobs_on[node] += sign
        # A node draws while at least one job is on it, however many there are.
        if before == 0 or jobs_on[node] == 0:
            nodes += 1
        cell = cells[cell, 2]
    for p in range(len(drawn)):
        drawn[p] += sign * (state.shared_own[row, p] + nodes * state.shared_node[p])
    counters[MOVED] = 1
    if sign == 1:  # it may end at once, without an instant of its own
        counters[LAST_EVENT] = counters[NOW]


@compiled()
def write_level(state: State, drawn: IntArray | None) -> bool:
    """Write the drawn amounts if jobs have started or ended; return False if there is no room."""
    if drawn is None or state.counters[MOVED] == 0:
        return True
    counters, k = state.counters, state.counters[OUT_LEVELS]
    if k == len(state.shared_levels):
        return False
    state.shared_levels[k, 0] = counters[NOW]
    for p in range(len(drawn)):
        state.shared_levels[k, 1 + p] = drawn[p]
    counters[OUT_LEVELS] += 1
    counters[MOVED] = 0
    return True
