"""Compiled: on which nodes a job is started, one way after another, and going back.

Ways that differ only in nodes that are the same are one.
"""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.cp.postpone.fit_kernels import names_nodes, units_on
from hpcsched.dispatching.cp.postpone.position_kernels import (
    add_box,
    lowest_positions,
    next_positions,
    remove_last_box,
)
from hpcsched.dispatching.cp.postpone.search_tables import (
    DONE,
    LEVEL,
    NOW,
    POSITIONS,
    Problem,
    Search,
)

PRIME = 2147483647
"""Signatures of nodes are sums modulo this."""

_FACTORS = (1000003, 69069)
UNKNOWN = -2


@compiled()
def signature(end: int, key: int, low: int, which: int) -> int:
    """Return a number for something that holds a node until an end.

    Parameters
    ----------
    end
        Step at which it is over.
    key
        Equal for equal requests.
    low
        Lowest position.
    which
        Which of the two signatures: 0 or 1.
    """
    value = (end + 1) * _FACTORS[which] + (key + 1) * 7919 + (low + 1) * 104729
    # Below 2³¹, so that squares stay within int64.
    value = value % PRIME
    value = (value * value + 12345 + which) % PRIME
    return (value * value + end) % PRIME


@compiled()
def sign_job(j: int, sign: int, level: int, problem: Problem, search: Search) -> None:
    """Add a started job to the signatures of its nodes at a level, or take it off.

    Parameters
    ----------
    j
        The job.
    sign
        1 to add the job, −1 to take it off.
    level
        The level.
    """
    if problem.mode == NOW:  # whatever starts later needs no nodes
        return
    end = search.start[j] + problem.run_times[j]
    first = 0
    for c in range(search.choices[j]):
        n = search.among[j, c]
        count = search.placed[j, n]
        if count == 0:
            continue
        for which in range(2):
            total = 0
            if problem.mode == POSITIONS:
                for r in range(problem.requests.shape[1]):
                    if problem.requests[j, r] > 0:
                        for unit in range(first, first + count):
                            low = search.lows[j, r, unit] * problem.requests.shape[1] + r
                            total += signature(end, problem.key[j], low, which)
            else:
                total = count * signature(end, problem.key[j], 0, which)
            # A remainder is never negative, as in Python, so that taking off undoes adding.
            old = search.sign[level, n, which]
            search.sign[level, n, which] = (old + sign * (total % PRIME)) % PRIME
        first += count


@compiled()
def release_job(j: int, level: int, problem: Problem, search: Search) -> None:
    """Release a job's resources on its nodes at a level."""
    for c in range(search.choices[j]):
        n = search.among[j, c]
        if search.placed[j, n] > 0:
            for r in range(problem.requests.shape[1]):
                search.left[level, n, r] += search.placed[j, n] * problem.requests[j, r]
    sign_job(j, -1, level, problem, search)


@compiled()
def _take(j: int, problem: Problem, search: Search) -> None:
    """Allocate a job's placement from the present level on."""
    level = search.state[LEVEL]
    begin = search.level_time[level]
    end = begin + problem.run_times[j]
    if problem.mode == POSITIONS:
        lowest = 0
        for c in range(search.choices[j]):
            n = search.among[j, c]
            for unit in range(lowest, lowest + search.placed[j, n]):
                for r in range(problem.requests.shape[1]):
                    size = problem.requests[j, r]
                    if size > 0:
                        low = search.lows[j, r, unit]
                        add_box(n, r, low, low + size, end, search)
            lowest += search.placed[j, n]
    for c in range(search.choices[j]):
        n = search.among[j, c]
        if search.placed[j, n] > 0:
            for r in range(problem.requests.shape[1]):
                search.left[level, n, r] -= search.placed[j, n] * problem.requests[j, r]
    sign_job(j, 1, level, problem, search)


@compiled()
def _leave(j: int, problem: Problem, search: Search) -> None:
    """Undo `_take`."""
    # Boxes are a stack: they go in the reverse order of `_take`.
    release_job(j, search.state[LEVEL], problem, search)
    if problem.mode == POSITIONS:
        for c in range(search.choices[j] - 1, -1, -1):
            n = search.among[j, c]
            for _ in range(search.placed[j, n]):
                for r in range(problem.requests.shape[1] - 1, -1, -1):
                    if problem.requests[j, r] > 0:
                        remove_last_box(n, r, search)


@compiled()
def _choose(j: int, problem: Problem, search: Search) -> None:
    """List the nodes with room for a job at the present level, in the order to try them in.

    By count, those with least room come first. By position, they come in order.
    """
    level = search.state[LEVEL]
    count, nodes = 0, problem.room.shape[1]
    if problem.mode == POSITIONS:
        for n in range(nodes):
            most = units_on(j, n, level, problem, search)
            if most > 0:
                search.among[j, count], search.fits[j, count] = n, most
                search.alike[j, count] = UNKNOWN
                count += 1
        search.choices[j] = count
        return
    # Counting sort by room, stable by node, so that ties are always broken alike.
    tally = search.tally
    for most in range(problem.units[j] + 2):
        tally[most] = 0
    for n in range(nodes):
        most = units_on(j, n, level, problem, search)
        # Room, for a moment: at the end of this function it is as `Search` says.
        search.alike[j, n] = most
        if most > 0:
            tally[most + 1] += 1
            count += 1
    for most in range(1, problem.units[j] + 1):
        tally[most + 1] += tally[most]
    for n in range(nodes):
        most = search.alike[j, n]
        if most > 0:
            c = tally[most]
            tally[most] += 1
            search.among[j, c], search.fits[j, c] = n, most
    for c in range(count):
        search.alike[j, c] = UNKNOWN
    search.choices[j] = count


@compiled()
def _compare(j: int, c: int, problem: Problem, search: Search) -> int:
    """Return the last of a job's choices before one that is a node just like it; −1 for none."""
    level = search.state[LEVEL]
    n = search.among[j, c]
    for before in range(c - 1, -1, -1):
        m = search.among[j, before]
        if (
            search.fits[j, before] != search.fits[j, c]
            or problem.node_class[m] != problem.node_class[n]
            or search.sign[level, m, 0] != search.sign[level, n, 0]
            or search.sign[level, m, 1] != search.sign[level, n, 1]
        ):
            continue
        # Signatures may agree by chance, so amounts are compared as well.
        same = True
        for r in range(problem.requests.shape[1]):
            same = same and search.left[level, m, r] == search.left[level, n, r]
        if same:
            return before
    return -1


@compiled()
def _spread(j: int, first: int, missing: int, compares: bool, search: Search) -> bool:
    """Put units on a job's choices from one on, as many on each as it holds; say if all fit.

    With `compares`, a node just like one before gets no more units than that.
    """
    for c in range(first, search.choices[j]):
        most = search.fits[j, c]
        if compares and search.alike[j, c] >= 0:
            most = min(most, search.placed[j, search.among[j, search.alike[j, c]]])
        here = min(most, missing)
        search.placed[j, search.among[j, c]] = here
        missing -= here
    return missing == 0


@compiled()
def _next_counts(j: int, problem: Problem, search: Search) -> bool:
    """Put the units of a job on nodes in the next way; say whether there is one."""
    for c in range(search.choices[j]):
        # Only now, as a job that keeps its first placement needs no comparison.
        if search.alike[j, c] == UNKNOWN:
            search.alike[j, c] = _compare(j, c, problem, search)
    behind = 0
    for c in range(search.choices[j] - 1, -1, -1):
        n = search.among[j, c]
        here = search.placed[j, n]
        if here > 0:
            search.placed[j, n] = here - 1
            if _spread(j, c + 1, behind + 1, True, search):
                return True
        behind += here
        search.placed[j, n] = 0
    return False


@compiled()
def has_next_placement(j: int, problem: Problem, search: Search) -> bool:
    """Place a job that holds nothing in the next way, and have it hold that; say if there is one.

    Without one, the job has no nodes.
    """
    level = search.state[LEVEL]
    begin = search.level_time[level]
    if not names_nodes(begin, problem):
        return False
    if problem.mode == POSITIONS and next_positions(j, begin, problem, search):
        _take(j, problem, search)
        return True
    if not _next_counts(j, problem, search):
        return False
    if problem.mode == POSITIONS:
        lowest_positions(j, 0, 0, begin, problem, search)
    _take(j, problem, search)
    return True


@compiled()
def begin_job(j: int, problem: Problem, search: Search) -> None:
    """Start a job at the present level, placed in the first way."""
    level = search.state[LEVEL]
    begin = search.level_time[level]
    search.start[j] = begin
    search.state[DONE] += 1
    for g in range(problem.demand.shape[1]):
        search.together[level, g] -= problem.demand[j, g]
    end = begin + problem.run_times[j]
    k = search.state[DONE] - 1
    while k > 0:
        # In order of ends, in which bounds and levels go through it.
        i = search.by_end[k - 1]
        if search.start[i] + problem.run_times[i] <= end:
            break
        search.by_end[k] = i
        k -= 1
    search.by_end[k] = j
    if names_nodes(begin, problem):
        _choose(j, problem, search)
        _spread(j, 0, problem.units[j], False, search)
        if problem.mode == POSITIONS:
            lowest_positions(j, 0, 0, begin, problem, search)
        _take(j, problem, search)
    else:
        search.choices[j] = 0


@compiled()
def lift_job(j: int, problem: Problem, search: Search) -> None:
    """Have a started job of the present level hold nothing of its nodes."""
    if names_nodes(search.start[j], problem):
        _leave(j, problem, search)


@compiled()
def withdraw_job(j: int, problem: Problem, search: Search) -> None:
    """Undo the start of a job of the present level that holds no nodes any more."""
    level = search.state[LEVEL]
    for c in range(search.choices[j]):
        search.placed[j, search.among[j, c]] = 0
    search.choices[j] = 0
    for g in range(problem.demand.shape[1]):
        search.together[level, g] += problem.demand[j, g]
    count = search.state[DONE]
    k = 0
    while search.by_end[k] != j:
        k += 1
    for i in range(k, count - 1):
        search.by_end[i] = search.by_end[i + 1]
    search.state[DONE] -= 1
    search.start[j] = -1
