"""Compiled: positions of units on a node, side by side and the same as long as a job runs.

Whatever began before the present ends later or is gone, so that positions are taken from a time on
if a box is on them that ends after it.
"""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.cp.postpone.search_tables import BOXES, Problem, Search


@compiled()
def next_low(
    n: int, r: int, size: int, low: int, begin: int, problem: Problem, search: Search
) -> int:
    """Return the lowest position from `low` on where `size` are free from then on; −1 if none.

    Parameters
    ----------
    n
        The node.
    r
        The resource type.
    size
        Positions of one unit.
    low
        Lowest position.
    begin
        Step from which on positions must be free.
    """
    while low + size <= problem.capacity[n, r]:
        taken = -1
        b = search.box_first[n, r]
        while b != -1:
            if (
                search.box_end[b] > begin
                and search.box_low[b] < low + size
                and low < search.box_high[b]
            ):
                # Any start before the end of a box in the way would overlap that box again.
                taken = max(taken, search.box_high[b])
            b = search.box_next[b]
        if taken == -1:
            return low
        low = taken
    return -1


@compiled()
def most_slots(
    n: int, r: int, size: int, most: int, begin: int, problem: Problem, search: Search
) -> int:
    """Return for how many units, up to `most`, there are positions from a time on.

    Parameters
    ----------
    n
        The node.
    r
        The resource type.
    size
        Positions of one unit.
    most
        Maximum number of units.
    begin
        Step from which on positions must be free.
    """
    low = 0
    for count in range(most):
        low = next_low(n, r, size, low, begin, problem, search)
        if low == -1:
            return count
        low += size
    return most


@compiled()
def add_box(n: int, r: int, low: int, high: int, end: int, search: Search) -> None:
    """Take positions of a node until a time.

    Parameters
    ----------
    n
        The node.
    r
        The resource type.
    low
        Lowest position.
    high
        The position behind the last.
    end
        Step at which it is over.
    """
    b = search.state[BOXES]
    search.state[BOXES] += 1
    search.box_end[b] = end
    search.box_low[b] = low
    search.box_high[b] = high
    search.box_next[b] = search.box_first[n, r]
    search.box_first[n, r] = b


@compiled()
def remove_last_box(n: int, r: int, search: Search) -> None:
    """Give back the positions of a node that were taken last."""
    search.box_first[n, r] = search.box_next[search.box_first[n, r]]
    search.state[BOXES] -= 1


@compiled()
def _fill(
    on: tuple[int, int, int],
    units: tuple[int, int],
    low: int,
    begin: int,
    problem: Problem,
    search: Search,
) -> bool:
    """Give units of a job the lowest positions from `low` on, if there are.

    `on` is the job, the resource type and the node; `units` the first and the one behind the last.
    """
    j, r, n = on
    size = problem.requests[j, r]
    for unit in range(units[0], units[1]):
        low = next_low(n, r, size, low, begin, problem, search)
        if low == -1:
            return False
        search.lows[j, r, unit] = low
        low += size
    return True


@compiled()
def lowest_positions(
    j: int, choice: int, first: int, begin: int, problem: Problem, search: Search
) -> None:
    """Give units of a job, from unit `first` on, the lowest positions on its nodes.

    They are those from one of its choices on.

    Parameters
    ----------
    j
        The job.
    choice
        Index of the first node among the job's choices.
    first
        The first unit.
    begin
        Step at which the job starts.
    """
    for c in range(choice, search.choices[j]):
        n = search.among[j, c]
        last = first + search.placed[j, n]
        for r in range(problem.requests.shape[1]):
            if problem.requests[j, r] > 0:
                _fill((j, r, n), (first, last), 0, begin, problem, search)
        first = last


@compiled()
def next_positions(j: int, begin: int, problem: Problem, search: Search) -> bool:
    """Give the units of a job the next positions on the same nodes; say whether there are.

    The last unit that can moves up; what comes after it goes back to the lowest.

    Parameters
    ----------
    j
        The job.
    begin
        Step from which on positions must be free.
    """
    types = problem.requests.shape[1]
    last = problem.units[j]
    for c in range(search.choices[j] - 1, -1, -1):
        n = search.among[j, c]
        first = last - search.placed[j, n]
        for r in range(types - 1, -1, -1):
            if problem.requests[j, r] == 0:
                continue
            for unit in range(last - 1, first - 1, -1):
                old = search.lows[j, r, unit]
                if _fill((j, r, n), (unit, last), old + 1, begin, problem, search):
                    for later in range(r + 1, types):
                        if problem.requests[j, later] > 0:
                            _fill((j, later, n), (first, last), 0, begin, problem, search)
                    lowest_positions(j, c + 1, last, begin, problem, search)
                    return True
                # The failed `_fill` has overwritten positions: the unit goes back, those behind it
                # to their lowest.
                _fill((j, r, n), (unit, last), old, begin, problem, search)
        last = first
    return False
