"""Compiled allocators: rankings of the nodes, and filling nodes in that order.

They are those of `hpcsched.dispatching.heuristic.allocators`, where each is described.
"""

from hpcsched.dispatching.core.array_kernels import numbers, table_of_zeros, zeros
from hpcsched.dispatching.core.codes import FIRST_FIT, KEEP_SCARCE
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def fill_by_number(units: int, fits: IntArray, placed: IntArray) -> None:
    """Add units to `placed`, `[N]`, at most as many as fit on each node, the lowest ones first."""
    missing = units
    for node in range(len(fits)):
        if missing == 0:
            break
        here = min(fits[node], missing)
        placed[node] += here
        missing -= here


@compiled()
def _comes_before(one: int, other: int, ranks: FloatArray) -> bool:
    """Say whether a node comes before another: by rank after rank, then by number."""
    for k in range(ranks.shape[0]):
        if ranks[k, one] != ranks[k, other]:
            return bool(ranks[k, one] < ranks[k, other])
    return one < other


@compiled()
def _sift(at: int, count: int, nodes: IntArray, ranks: FloatArray) -> None:
    """Move a node of a heap down until it comes before all below it."""
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and _comes_before(nodes[child + 1], nodes[child], ranks):
            child += 1
        if not _comes_before(nodes[child], nodes[at], ranks):
            return
        nodes[at], nodes[child] = nodes[child], nodes[at]
        at = child


@compiled()
def fill_by_rank(units: int, fits: IntArray, ranks: FloatArray, placed: IntArray) -> None:
    """Add units to `placed`, `[N]`, at most as many as fit on each node, by ascending rank.

    `ranks`, `[K, N]`, are compared one after the other; the lowest number comes first among equals.
    """
    nodes = numbers(len(fits))
    count = 0
    for node in range(len(fits)):
        if fits[node] > 0:
            nodes[count] = node
            count += 1
    for k in range(count // 2 - 1, -1, -1):
        _sift(k, count, nodes, ranks)
    missing = units
    while missing > 0:
        node = nodes[0]
        here = min(fits[node], missing)
        placed[node] += here
        missing -= here
        count -= 1
        nodes[0] = nodes[count]
        _sift(0, count, nodes, ranks)


@compiled()
def place(
    allocator: int,
    units: int,
    fits: IntArray,
    available: IntArray,
    asked: IntArray,
    capacity: IntArray,
    totals: IntArray,
    pressure: FloatArray,
) -> IntArray:
    """Return how many units an allocator places on each node, `[N]`.

    `fits`, `[N]`, units may go on each, of which `available`, `[R, N]`, is free; `pressure`, `[R]`,
    is for allocators that look at it.
    """
    placed = zeros(len(fits))
    if allocator == FIRST_FIT:
        fill_by_number(units, fits, placed)
        return placed
    ranks = table_of_zeros(3, len(fits))
    for node in range(len(fits)):
        if fits[node] == 0:
            continue
        share, offered = 0.0, 0
        for r in range(len(asked)):
            if capacity[node, r]:
                share += available[r, node] / capacity[node, r]
                offered += 1
            if allocator == KEEP_SCARCE and asked[r] == 0 and totals[r]:
                part = available[r, node] / totals[r]
                ranks[0, node] += pressure[r] * part
                ranks[1, node] += part
        ranks[2, node] = share / max(offered, 1)
    fill_by_rank(units, fits, ranks, placed)
    return placed
