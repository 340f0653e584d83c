"""Compiled: the tree of schedule-or-postpone, depth first.

At a level the search takes the first job in order that can start, and starts it there; on the other
branch the job is postponed: it is not looked at again until it could no longer have started then,
beside what has been started since, and so its earliest start is another; or until a node has room
for it that it had not then, since the first may happen later. Where no job of a level is left, the
next level is the next time at which one can start.

Nothing is lost where no job gets cheaper by waiting. Of the best plans, take one whose starts have
the least sum: no job of it could start sooner with all others left alone. So

- each start is a time at which something ends, or begins;
- a postponed job that no later start can keep from its old earliest start is a failure;
- of two jobs that are in every way the same the heavier one starts no later;
- nodes that are the same from now on can be exchanged; and
- where jobs had room on single nodes whenever they had it on all together, below a decision, other
  nodes for its job bring nothing better.
"""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.cp.postpone.bound_kernels import (
    NEVER,
    is_hopeless,
    is_hopeless_from,
    next_event,
    plan_cost,
)
from hpcsched.dispatching.cp.postpone.fit_kernels import can_start, could_have_started
from hpcsched.dispatching.cp.postpone.placing_kernels import (
    PRIME,
    begin_job,
    has_next_placement,
    lift_job,
    release_job,
    signature,
    withdraw_job,
)
from hpcsched.dispatching.cp.postpone.search_tables import (
    BEST,
    DEPTH,
    DIFFERED,
    DONE,
    FAILS,
    GOES_DOWN,
    LEFT_OUT,
    LEVEL,
    NODES,
    NOW,
    POSTPONE,
    SOLUTIONS,
    START,
    TRAIL,
    Problem,
    Search,
)


@compiled()
def _is_selectable(j: int, problem: Problem, search: Search) -> bool:
    """Say whether a job waits for nothing but room."""
    if search.start[j] >= 0 or (search.postponed[j] >= 0 and not problem.by_node):
        return False
    for k in range(problem.before.shape[1]):
        i = problem.before[j, k]
        if i >= 0 and search.start[i] < 0:
            return False
    return bool(problem.twin[j] == -1 or search.start[problem.twin[j]] >= 0)


@compiled()
def _next_job(problem: Problem, search: Search) -> int:
    """Return the next job in order that can start at the present level; −1 if none."""
    level = search.state[LEVEL]
    while search.level_at[level] < len(search.order):
        j = search.order[search.level_at[level]]
        search.level_at[level] += 1
        if _is_selectable(j, problem, search) and can_start(j, problem, search):
            return int(j)
    return -1


@compiled()
def _free_together(level: int, time: int, problem: Problem, search: Search) -> None:
    """Write the free amounts of all nodes together at a time that becomes a level."""
    f = len(problem.fixed_at) - 1
    while problem.fixed_at[f] > time:
        f -= 1
    for g in range(len(problem.total)):
        search.together[level, g] = problem.total[g] - problem.fixed[f, g]
    # From the last end back, until one is over.
    for k in range(search.state[DONE] - 1, -1, -1):
        i = search.by_end[k]
        if search.start[i] + problem.run_times[i] <= time:
            return
        for g in range(len(problem.total)):
            search.together[level, g] -= problem.demand[i, g]


@compiled()
def _copy_nodes(level: int, problem: Problem, search: Search) -> None:
    """Copy the free amounts of each node from the level before."""
    if problem.mode == NOW:
        return
    for n in range(len(problem.capacity)):
        # Each level has a copy of its own, so that going back needs no undoing.
        search.sign[level, n, 0] = search.sign[level - 1, n, 0]
        search.sign[level, n, 1] = search.sign[level - 1, n, 1]
        for r in range(problem.capacity.shape[1]):
            search.left[level, n, r] = search.left[level - 1, n, r]
            search.without[level, n, r] = search.without[level - 1, n, r]


@compiled()
def _release(level: int, after: int, time: int, problem: Problem, search: Search) -> None:
    """Release on nodes the jobs that end after one time and up to another."""
    if problem.mode == NOW:
        return
    for k in range(search.state[DONE]):
        i = search.by_end[k]
        end = search.start[i] + problem.run_times[i]
        if after < end <= time:
            release_job(i, level, problem, search)
    # Running jobs are sorted by their ends: the first of the interval is found by bisection.
    low, high = 0, len(problem.allocated_until)
    while low < high:
        middle = (low + high) // 2
        if problem.allocated_until[middle] > after:
            high = middle
        else:
            low = middle + 1
    for k in range(low, len(problem.allocated_until)):
        if problem.allocated_until[k] > time:
            return
        n = problem.allocated_on[k]
        for r in range(problem.capacity.shape[1]):
            search.left[level, n, r] += problem.allocated[k, r]
            search.without[level, n, r] += problem.allocated[k, r]
        for which in range(2):
            # The signature is a sum, so that a job leaves it without the others being added anew.
            gone = signature(problem.allocated_until[k], problem.allocated_key[k], 0, which)
            search.sign[level, n, which] = (search.sign[level, n, which] - gone) % PRIME


@compiled()
def _unblock(problem: Problem, search: Search) -> bool:
    """Make jobs with a changed earliest start selectable again; say whether any job is."""
    some = False
    for j in range(len(search.start)):
        if search.start[j] >= 0:
            continue
        level = search.postponed[j]
        if level >= 0 and not could_have_started(j, level, problem, search):
            # The trail remembers where it was postponed, for the way back.
            trail = search.state[TRAIL]
            search.undone_job[trail], search.undone_level[trail] = j, level
            search.state[TRAIL] = trail + 1
            search.postponed[j] = -1
    for j in range(len(search.start)):
        some = some or _is_selectable(j, problem, search)
    return some


@compiled()
def _next_level(problem: Problem, search: Search) -> bool:
    """Go on to the next time at which a job can start; False is a failure."""
    if not _unblock(problem, search):
        return False
    state = search.state
    level = state[LEVEL] + 1
    time = search.level_time[level - 1]
    _copy_nodes(level, problem, search)
    while True:
        # Only ends of jobs and releases can let a postponed job start, so other times are skipped.
        before, time = time, next_event(time, problem, search)
        if time == NEVER:
            return False
        for j in range(len(search.start)):
            if search.start[j] < 0 and search.postponed[j] >= 0:
                # Once it could have run whole before this time, nothing can keep it from its old
                # earliest start any more: a failure.
                begun = search.level_time[search.postponed[j]]
                if begun + problem.run_times[j] <= time:
                    return False
        if is_hopeless_from(time, problem, search):
            return False
        _free_together(level, time, problem, search)
        _release(level, before, time, problem, search)
        search.level_time[level], search.level_at[level] = time, 0
        state[LEVEL] = level
        for j in range(len(search.start)):
            if _is_selectable(j, problem, search) and can_start(j, problem, search):
                return True
        state[LEVEL] = level - 1


@compiled()
def _keep(problem: Problem, search: Search) -> None:
    """Keep a plan in which all jobs are started, if it is the best so far."""
    cost = plan_cost(problem, search)
    if cost >= search.state[BEST]:
        return
    search.state[BEST] = cost
    search.state[SOLUTIONS] += 1
    for j in range(len(search.start)):
        search.best_start[j] = search.start[j]
        for n in range(search.placed.shape[1]):
            search.best_placed[j, n] = search.placed[j, n]


@compiled()
def _decide(j: int, problem: Problem, search: Search) -> None:
    """Start a job: a decision that may be changed."""
    state = search.state
    depth = state[DEPTH]
    level = state[LEVEL]
    search.job[depth], search.branch[depth], search.level[depth] = j, START, level
    search.at[depth] = search.level_at[level]
    search.before[depth] = search.postponed[j]
    search.trail[depth], search.differed[depth] = state[TRAIL], state[DIFFERED]
    state[DEPTH] = depth + 1
    state[NODES] += 1
    begin_job(j, problem, search)


@compiled()
def _change_last(problem: Problem, search: Search) -> bool:
    """Change the last decision to its next branch; False if it has none and is undone."""
    state = search.state
    depth = state[DEPTH] - 1
    j, level = search.job[depth], search.level[depth]
    # First what was unblocked below this decision is undone, the last first.
    while state[TRAIL] > search.trail[depth]:
        state[TRAIL] -= 1
        trail = state[TRAIL]
        search.postponed[search.undone_job[trail]] = search.undone_level[trail]
    state[LEVEL] = level
    search.level_at[level] = search.at[depth]
    if search.branch[depth] == POSTPONE:
        search.postponed[j] = search.before[depth]
        state[DEPTH] = depth
        return False
    state[NODES] += 1
    lift_job(j, problem, search)
    # Other nodes matter only if, below, a job found no single nodes where all together had enough.
    if state[DIFFERED] != search.differed[depth]:
        search.differed[depth] = state[DIFFERED]
        if has_next_placement(j, problem, search):
            if not problem.back_to_start:
                return True
            # What is not tried may have been better, so the end of the tree proves nothing.
            state[LEFT_OUT] = 1
            lift_job(j, problem, search)
    withdraw_job(j, problem, search)
    search.branch[depth] = POSTPONE
    search.postponed[j] = level
    return True


@compiled()
def advance(nodes: int, fails: int, problem: Problem, search: Search) -> bool:
    """Continue the search up to a number of nodes or fails; say whether the tree is done.

    Parameters
    ----------
    nodes, fails
        Numbers of nodes and fails at which to pause.
    search
        The state of the search; changed.
    """
    state = search.state
    while state[NODES] < nodes and state[FAILS] < fails:
        if state[GOES_DOWN] == 0:
            if state[DEPTH] == 0:
                return True
            if not _change_last(problem, search):
                continue
            state[GOES_DOWN] = 1
        elif state[DONE] == len(search.start):
            _keep(problem, search)
            state[GOES_DOWN] = 0
            continue
        else:
            j = _next_job(problem, search)
            if j == -1:
                if not _next_level(problem, search):
                    state[FAILS] += 1
                    state[GOES_DOWN] = 0
                continue
            _decide(j, problem, search)
        # After every decision: a bound is cheaper than one more level of the tree.
        if is_hopeless(problem, search):
            state[FAILS] += 1
            state[GOES_DOWN] = 0
    return False
