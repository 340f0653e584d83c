"""Compiled rankings of nodes by free capacity, and heaps with the first node on top."""

from hpcsched.dispatching.core.codes import KEEP_SCARCE
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def _comes_before(one: int, other: int, ranks: FloatArray) -> bool:
    """Check whether a node comes before another: by rank after rank, then by number."""
    for k in range(ranks.shape[0]):
        if ranks[k, one] != ranks[k, other]:
            return bool(ranks[k, one] < ranks[k, other])
    return one < other


@compiled()
def sift_down(at: int, count: int, nodes: IntArray, ranks: FloatArray) -> None:
    """Move a node of a heap down until it comes before all below it.

    Parameters
    ----------
    at
        Position of the node in the heap.
    count
        Number of nodes in the heap.
    nodes
        The heap; changed in place.
    ranks
        Ranks of all nodes, `[K, N]`.
    """
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
def heap_of_nodes(fits: IntArray, nodes: IntArray, ranks: FloatArray) -> int:
    """Write the nodes with room as a heap, the first on top.

    Parameters
    ----------
    fits
        Units that fit on each node, `[N]`.
    nodes
        Heap, `[N]`; written.
    ranks
        Ranks of all nodes, `[K, N]`.

    Returns
    -------
    int
        Number of nodes in the heap.
    """
    count = 0
    for node in range(len(fits)):
        if fits[node] > 0:
            nodes[count] = node
            count += 1
    for k in range(count // 2 - 1, -1, -1):
        sift_down(k, count, nodes, ranks)
    return count


@compiled()
def rank_by_room(
    allocator: int,
    fits: IntArray,
    available: IntArray,
    asked: IntArray,
    capacity: IntArray,
    totals: IntArray,
    pressure: FloatArray,
    ranks: FloatArray,
) -> None:
    """Rank nodes by free capacity, for `KEEP_SCARCE` after the price of their resources.

    Parameters
    ----------
    allocator
        Code of the allocator.
    fits
        Units that fit on each node, `[N]`; nodes without room are left out.
    available
        Free amounts, `[R, N]`.
    asked
        Requested amount per unit, `[R]`.
    capacity
        Capacity of each node, `[N, R]`.
    totals
        Capacity of the system, `[R]`.
    ranks
        Ranks, `[3, N]`, zeros at first; written.
    """
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
