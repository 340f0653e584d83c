"""Compiled: the starts at which jobs fit beside the jobs started so far.

The search goes forward in time. At its present level, started jobs only release resources from
then on, so that a job has room from now to its end if it has now, but for announced changes: nodes
that close and shared resources that offer less. A job that was postponed at an earlier level has
room from there on if it has at all levels since.
"""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.cp.postpone.position_kernels import most_slots
from hpcsched.dispatching.cp.postpone.search_tables import (
    AGGREGATED,
    DIFFERED,
    LEVEL,
    NOW,
    POSITIONS,
    Problem,
    Search,
)
from hpcsched.system.system import IntArray


@compiled()
def fits_together(j: int, first: int, problem: Problem, search: Search) -> bool:
    """Check that nodes together and shared resources have room for a job from a level on."""
    demand, together, start = problem.demand, search.together, search.start
    for level in range(first, search.state[LEVEL] + 1):
        for g in range(demand.shape[1]):
            if demand[j, g] > 0 and together[level, g] < demand[j, g]:
                return False
    begin = search.level_time[first]
    end = begin + problem.run_times[j]
    for f in range(len(problem.fixed_at)):
        time = problem.fixed_at[f]
        # Started jobs only end: after the levels above, less can be free only where a fixed amount
        # rises.
        if problem.rises[f] == 0 or time <= begin or time >= end:
            continue
        for g in range(demand.shape[1]):
            if demand[j, g] == 0:
                continue
            left = problem.total[g] - problem.fixed[f, g] - demand[j, g]
            for i in range(len(start)):
                if 0 <= start[i] <= time < start[i] + problem.run_times[i]:
                    left -= demand[i, g]
            if left < 0:
                return False
    return True


@compiled()
def is_closed(n: int, begin: int, end: int, problem: Problem) -> bool:
    """Say whether a node is closed at some time from `begin` to `end`.

    Parameters
    ----------
    n
        The node.
    begin
        First step.
    end
        Step at which it is over.
    """
    for c in range(problem.closed_first[n], problem.closed_first[n + 1]):
        if problem.closed_begin[c] < end and begin < problem.closed_end[c]:
            return True
    return False


@compiled()
def _units_by_amount(j: int, n: int, level: int, left: IntArray, problem: Problem) -> int:
    """Return for how many units a node has enough at a level."""
    most = problem.room[j, n]
    for r in range(problem.requests.shape[1]):
        asked = problem.requests[j, r]
        if most > 0 and asked > 0:
            most = min(most, left[level, n, r] // asked)
    return int(most)


@compiled()
def units_on(j: int, n: int, first: int, problem: Problem, search: Search) -> int:
    """Return how many units of a job fit on a node from a level on; at most all of them."""
    most = min(problem.room[j, n], problem.units[j])
    begin = search.level_time[first]
    if most == 0 or is_closed(n, begin, begin + problem.run_times[j], problem):
        return 0
    # If only jobs that start now have nodes, there is one level of them.
    last = first if problem.mode == NOW else search.state[LEVEL]
    for level in range(first, last + 1):
        most = min(most, _units_by_amount(j, n, level, search.left, problem))
    if problem.mode == POSITIONS and most > 0:
        for r in range(problem.requests.shape[1]):
            if problem.requests[j, r] > 0:
                most = most_slots(n, r, problem.requests[j, r], most, begin, problem, search)
    return int(most)


@compiled()
def _would_fit_alone(j: int, problem: Problem, search: Search) -> bool:
    """Say whether single nodes had room now if no job of the search had been started."""
    level = search.state[LEVEL]
    begin = search.level_time[level]
    missing = problem.units[j]
    for n in range(problem.room.shape[1]):
        most = min(missing, _units_by_amount(j, n, level, search.without, problem))
        if most > 0 and not is_closed(n, begin, begin + problem.run_times[j], problem):
            missing -= most
        if missing == 0:
            return True
    return False


@compiled()
def names_nodes(time: int, problem: Problem) -> bool:
    """Say whether a job that starts at a time needs nodes."""
    return problem.mode != AGGREGATED and (problem.mode != NOW or time == 0)


@compiled()
def fits_on_nodes(j: int, first: int, problem: Problem, search: Search) -> bool:
    """Say whether single nodes have room for a job from a level on."""
    missing = problem.units[j]
    for n in range(problem.room.shape[1]):
        missing -= min(missing, units_on(j, n, first, problem, search))
        if missing == 0:
            return True
    return False


@compiled()
def has_new_room(j: int, problem: Problem, search: Search) -> bool:
    """Say whether a job that was postponed could start now where it could not have then.

    Elsewhere it would better have started then. By position, something has to have ended.
    """
    now, then = search.state[LEVEL], search.postponed[j]
    time, past = search.level_time[now], search.level_time[then]
    for n in range(problem.room.shape[1]):
        if problem.room[j, n] == 0:
            continue
        if problem.mode != POSITIONS:
            most = units_on(j, n, now, problem, search)
            if most > 0 and most > units_on(j, n, then, problem, search):
                return True
            continue
        for c in range(problem.closed_first[n], problem.closed_first[n + 1]):
            if past < problem.closed_end[c] <= time:
                return True
        for r in range(problem.requests.shape[1]):
            b = search.box_first[n, r]
            while problem.requests[j, r] > 0 and b != -1:
                if past < search.box_end[b] <= time:
                    return True
                b = search.box_next[b]
    return False


@compiled()
def can_start(j: int, problem: Problem, search: Search) -> bool:
    """Say whether a job can start at the present level, and should.

    Where it could but for the nodes that jobs before it are on, that is written down: other nodes
    for them may then be better.
    """
    level = search.state[LEVEL]
    if not fits_together(j, level, problem, search):
        return False
    if not names_nodes(search.level_time[level], problem):
        return True
    if fits_on_nodes(j, level, problem, search):
        return search.postponed[j] == -1 or has_new_room(j, problem, search)
    # A counter, not a flag: on the way back it tells whether this happened below a decision.
    if _would_fit_alone(j, problem, search):
        search.state[DIFFERED] += 1
    return False


@compiled()
def could_have_started(j: int, level: int, problem: Problem, search: Search) -> bool:
    """Say whether a job could start at an earlier level beside all that was started since."""
    if not fits_together(j, level, problem, search):
        return False
    if not names_nodes(search.level_time[level], problem):
        return True
    return fits_on_nodes(j, level, problem, search)
