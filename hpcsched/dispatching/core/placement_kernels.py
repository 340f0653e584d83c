"""Compiled allocators: rankings of nodes, and filling of nodes in that order.

They implement `hpcsched.dispatching.rules.allocators` and `scarce_resources`, which document them.
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
    """Place units on nodes in ascending order of numbers, as many on each as fit.

    Parameters
    ----------
    units
        Number of units.
    fits
        Units that fit on each node, `[N]`.
    placed
        Units on each node, `[N]`; added to.
    """
    missing = units
    for node in range(len(fits)):
        if missing == 0:
            break
        here = min(fits[node], missing)
        placed[node] += here
        missing -= here


@compiled()
def fill_by_rank(units: int, fits: IntArray, ranks: FloatArray, placed: IntArray) -> None:
    """Place units on nodes in ascending order of ranks, as many on each as fit.

    Parameters
    ----------
    units
        Number of units, at most the sum of `fits`.
    fits
        Units that fit on each node, `[N]`.
    ranks
        Ranks, `[K, N]`, compared one after the other, then by number.
    placed
        Units on each node, `[N]`; added to.
    """
    # A heap, as few nodes are enough for most jobs; sorting all would take longer.
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
    """Place a job's units by an allocator.

    Parameters
    ----------
    allocator
        Code of the allocator.
    units
        Number of units.
    fits
        Units that fit on each node, `[N]`.
    available
        Free amounts, `[R, N]`.
    asked
        Requested amount per unit, `[R]`.
    capacity
        Capacity of each node, `[N, R]`.
    totals
        Capacity of the system, `[R]`.
    scarce
        Whether each resource type is scarce, `[R]`; None for `FIRST_FIT`, `BEST_FIT` and
        `KEEP_SCARCE`.

    Returns
    -------
    IntArray
        Units on each node, `[N]`.
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
