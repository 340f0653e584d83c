"""Compiled rules: the starts of EASY and of list scheduling in a round."""

from hpcsched.dispatching.core.announced_outage_kernels import counts_units
from hpcsched.dispatching.core.array_kernels import numbers
from hpcsched.dispatching.core.codes import (
    BACKFILL,
    BEHIND,
    COMMITTED,
    GREEDY,
    OTHER,
    PROMISE,
    PROMISING,
    QUEUED,
    STRICT,
    WHY,
)
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import State
from hpcsched.dispatching.core.head_job_kernels import pass_by_count, pass_on_nodes
from hpcsched.dispatching.core.node_backfill_kernels import backfill_on_nodes
from hpcsched.dispatching.core.queue_order_kernels import sort_by_wait
from hpcsched.dispatching.core.reserved_round_kernels import keep_promises
from hpcsched.dispatching.core.shared_resource_kernels import open_shared
from hpcsched.dispatching.core.start_kernels import (
    find_candidates,
    fits_now,
    note_shared_resources,
    pressure_on,
    start,
    start_in_order,
)
from hpcsched.dispatching.core.state import ByNode, Explains, Reserves
from hpcsched.dispatching.core.step_kernels import backfill_by_count


@compiled()
def decide(now: int, state: State, by_node: ByNode, explains: Explains) -> None:
    """Hold a round of any rule."""
    if state.rule == BACKFILL:
        decide_for(now, state, by_node, explains, True)
    else:
        decide_for(now, state, by_node, explains, None)


@compiled()
def decide_for(
    now: int, state: State, by_node: ByNode, explains: Explains, reserves: Reserves
) -> None:
    """Hold a round of a rule that reserves for all jobs, or for one at most.

    Parameters
    ----------
    reserves
        True for rules that may reserve for all jobs.
    """
    _decide(now, state, by_node, explains, reserves, state.compression)


@compiled()
def _decide(
    now: int,
    state: State,
    by_node: ByNode,
    explains: Explains,
    reserves: Reserves,
    compression: int | None,
) -> None:
    """Hold a round of a rule that keeps reservations, or that plans anew in each round."""
    if compression is None:
        _plan_anew(now, state, by_node, explains, reserves)
    else:
        keep_promises(now, state, by_node, explains)


@compiled()
def _plan_anew(
    now: int, state: State, by_node: ByNode, explains: Explains, reserves: Reserves
) -> None:
    """Hold a round of a rule without reservations from earlier rounds."""
    queue, count = state.queue, state.counters[QUEUED]
    candidates = numbers(count)
    open_shared(now, state, state.shared_drawn)
    found = find_candidates(candidates, state, by_node)
    # A promise is made in each round, or it would depend on what else waits.
    goes_on = explains is not None or state.rule in PROMISING
    if found == 0 and not goes_on:
        return
    if sort_by_wait(now, queue, count, state.by_wait, state.keys, state.jobs):
        found = find_candidates(candidates, state, by_node)
    if state.own_backfill_order:
        behind, keys = state.behind, state.behind_keys
        sort_by_wait(now, behind, count, state.behind_by_wait, keys, state.jobs)
    pressure = pressure_on(state)
    counted = counts_units(now, state)
    at = start_in_order(now, state, by_node, pressure)
    while found and (
        candidates[found - 1] <= at or not fits_now(queue[candidates[found - 1]], state, by_node)
    ):
        found -= 1
    if at == count or (found == 0 and not goes_on):
        return
    if reserves is not None:
        if by_node is None or counted:
            backfill_by_count(now, at, candidates, found, state, by_node, explains, pressure)
        else:
            backfill_on_nodes(now, at, candidates, found, state, explains, pressure)
        return
    if state.rule in (STRICT, COMMITTED):
        if state.rule == COMMITTED:
            state.jobs[queue[at], PROMISE] = now
        if explains is not None:
            for k in range(at + 1, count):
                state.jobs[queue[k], WHY] = BEHIND
                state.jobs[queue[k], OTHER] = queue[at]
    elif state.rule == GREEDY:
        for k in range(at + 1, count):
            if fits_now(queue[k], state, by_node):
                start(queue[k], now, state, by_node, pressure)
    else:
        last = candidates[found - 1] if found else at
        if by_node is None:
            pass_by_count(now, at, last, state, pressure)
        else:
            pass_on_nodes(now, at, last, state, pressure)
    note_shared_resources(state, explains, state.shared_free)
