"""Compiled allocators: rankings of the nodes, and filling nodes in that order.

They are those of `hpcsched.dispatching.rules.allocators` and `scarce`, where each is
described.
"""

from hpcsched.dispatching.core.array_kernels import numbers, table_of_zeros, zeros
from hpcsched.dispatching.core.codes import FIRST_FIT
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.node_ranking_kernels import heap_of_nodes, rank_by_room, sift_down
from hpcsched.dispatching.core.scarce_resource_kernels import rank_by_class
from hpcsched.dispatching.core.state import BoolArray, FloatArray
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
def fill_by_rank(units: int, fits: IntArray, ranks: FloatArray, placed: IntArray) -> None:
    """Add units to `placed`, `[N]`, at most as many as fit on each node, by ascending rank.

    `ranks`, `[K, N]`, are compared one after the other; the lowest number comes first among equals.
    """
    nodes = numbers(len(fits))
    count = heap_of_nodes(fits, nodes, ranks)
    missing = units
    while missing > 0:
        node = nodes[0]
        here = min(fits[node], missing)
        placed[node] += here
        missing -= here
        count -= 1
        nodes[0] = nodes[count]
        sift_down(0, count, nodes, ranks)


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
    scarce: BoolArray | None,
) -> IntArray:
    """Return how many units an allocator places on each node, `[N]`.

    `fits`, `[N]`, units may go on each, of which `available`, `[R, N]`, is free; `pressure`, `[R]`,
    is for allocators that look at it. Where `scarce` is None, it is one of the first three.
    """
    placed = zeros(len(fits))
    if allocator == FIRST_FIT:
        fill_by_number(units, fits, placed)
        return placed
    ranks = table_of_zeros(3, len(fits))
    rank_by_room(allocator, fits, available, asked, capacity, totals, pressure, ranks)
    if scarce is not None:
        rank_by_class(
            allocator, units, fits, available, asked, capacity, totals, pressure, scarce, ranks
        )
    fill_by_rank(units, fits, ranks, placed)
    return placed
