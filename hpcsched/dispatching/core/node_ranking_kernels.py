"""Compiled rankings of nodes by what is free of them, and heaps with the first node on top."""

from hpcsched.dispatching.core.codes import KEEP_SCARCE
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


@compiled()
def _comes_before(one: int, other: int, ranks: FloatArray) -> bool:
    """Say whether a node comes before another: by rank after rank, then by number."""
    for k in range(ranks.shape[0]):
        if ranks[k, one] != ranks[k, other]:
            return bool(ranks[k, one] < ranks[k, other])
    return one < other


@compiled()
def sift_down(at: int, count: int, nodes: IntArray, ranks: FloatArray) -> None:
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
def heap_of_nodes(fits: IntArray, nodes: IntArray, ranks: FloatArray) -> int:
    """Write the nodes on which something fits as a heap, the first on top; return how many."""
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
    """Rank nodes by how much of them is free, and before that, if wanted, by what it is."""
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
