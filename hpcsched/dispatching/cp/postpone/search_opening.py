"""The root of the search tree of schedule-or-postpone, for an order of the jobs."""

import numpy as np

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.cp.postpone import search_tables
from hpcsched.dispatching.cp.postpone.bound_kernels import NEVER
from hpcsched.dispatching.cp.postpone.placing_kernels import PRIME, signature
from hpcsched.dispatching.cp.postpone.position_kernels import add_box
from hpcsched.dispatching.cp.postpone.preparing import Given
from hpcsched.dispatching.cp.postpone.search_tables import Problem, Search
from hpcsched.dispatching.planning.model_data import ModelData
from hpcsched.system.system import IntArray


def in_order(problem: Problem, order: IntArray) -> IntArray:
    """Return an order in which each job comes behind its twin: those trade places, `[J]`.

    A job also comes behind those that dominate it.

    Parameters
    ----------
    problem
        The problem.
    order
        Numbers of the jobs in the order of decisions, `[J]`.
    """
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    heads = np.arange(len(order))
    depth = np.zeros(len(order), dtype=np.int64)
    for j in range(len(order)):
        i = j
        while problem.twin[i] != -1:
            i = int(problem.twin[i])
            depth[j] += 1
        heads[j] = i
    for head in np.unique(heads):
        family = np.flatnonzero(heads == head)
        rank[family[depth[family].argsort()]] = np.sort(rank[family])
    for j in range(len(order)):  # who dominates has a lower number
        for i in problem.before[j][problem.before[j] >= 0]:
            rank[j] = max(rank[j], rank[i])
    return np.lexsort((np.arange(len(order)), rank)).astype(np.int64)


def open_search(
    given: Given, data: ModelData, order: IntArray, before: Search | None = None
) -> Search:
    """Return a search at the root of the tree that looks at jobs in an order.

    What one before has found and counted stays.

    Parameters
    ----------
    given
        The problem, and the occupation of its nodes.
    data
        The model's data.
    order
        Numbers of the jobs in the order of decisions, `[J]`.
    before
        The best plan so far; None without any.
    """
    problem = given.problem
    jobs, nodes = problem.room.shape
    types, shared = problem.capacity.shape[1], len(problem.total)
    levels = len(problem.events) + jobs + 2
    # On a path a job is postponed at most once a level, and started once.
    depth = jobs * (levels + 1) + 1
    at_nodes = levels if problem.mode != search_tables.NOW else 1
    positions = problem.mode == search_tables.POSITIONS
    units = int(problem.units.max(initial=1)) if positions else 1
    boxes = len(given.boxes) + int(problem.units.sum()) * types if positions else 0

    def room(*shape: int) -> IntArray:
        return np.zeros(shape, dtype=np.int64)

    search = Search(
        room(12), room(jobs), room(jobs), room(jobs), room(jobs),
        room(levels), room(levels), room(levels, shared),
        room(at_nodes, nodes, types), room(at_nodes, nodes, types), room(at_nodes, nodes, 2),
        room(jobs, nodes), room(jobs, nodes), room(jobs), room(jobs, nodes), room(jobs, nodes),
        room(depth), room(depth), room(depth), room(depth), room(depth), room(depth),
        room(depth), room(depth), room(depth),
        room(boxes), room(boxes), room(boxes), room(boxes), room(nodes, types),
        room(jobs, types, units), room(jobs), room(jobs), room(jobs, nodes),
        room(int(problem.units.max(initial=0)) + 2), room(jobs), room(jobs),
        np.zeros(jobs), np.zeros(jobs),
    )  # fmt: skip
    search.state[search_tables.BEST] = NEVER
    if before is not None:
        search.state[:] = before.state
        search.best_start[:], search.best_placed[:] = before.best_start, before.best_placed
        # Counts and the best plan stay; the place in the tree does not.
        for place in (
            search_tables.DEPTH,
            search_tables.LEVEL,
            search_tables.DONE,
            search_tables.TRAIL,
            search_tables.BOXES,
        ):
            search.state[place] = 0
    search.state[search_tables.GOES_DOWN] = 1
    search.order[:] = in_order(problem, order)
    search.rank[search.order] = np.arange(jobs)
    search.start[:] = search.postponed[:] = -1
    search.together[0] = problem.total - problem.fixed[0]
    not_allocated = data.not_allocated if problem.mode != search_tables.NOW else data.available
    search.left[0] = search.without[0] = not_allocated[given.order]
    # In plain Python: called from here, code would have to be compiled for Python callers too.
    sign = plain(signature)
    for end, n, key in zip(
        problem.allocated_until.tolist(),
        problem.allocated_on.tolist(),
        problem.allocated_key.tolist(),
        strict=True,
    ):
        for which in range(2):
            search.sign[0, n, which] = (search.sign[0, n, which] + sign(end, key, 0, which)) % PRIME
    search.box_first[:] = -1
    for n, r, low, high, end in given.boxes:
        plain(add_box)(n, r, low, high, end, search)
    return search
