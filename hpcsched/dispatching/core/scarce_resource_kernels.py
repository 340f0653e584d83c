"""Compiled rankings of heterogeneous nodes: by weight, and by weighted round robin of classes."""

from hpcsched.dispatching.core.array_kernels import numbers, shares, table, zeros
from hpcsched.dispatching.core.codes import BALANCED, HYBRID, WEIGHTED
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.node_ranking_kernels import heap_of_nodes, sift_down
from hpcsched.dispatching.core.state import BoolArray, FloatArray
from hpcsched.system.system import IntArray


@compiled()
def rank_by_class(
    allocator: int,
    units: int,
    fits: IntArray,
    available: IntArray,
    asked: IntArray,
    capacity: IntArray,
    totals: IntArray,
    pressure: FloatArray,
    scarce: BoolArray,
    ranks: FloatArray,
) -> None:
    """Turn ranks by free capacity into those of the allocators for heterogeneous systems.

    Parameters
    ----------
    allocator
        Code of the allocator.
    units
        Number of units to place.
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
        Whether each resource type is scarce, `[R]`.
    ranks
        Ranks of the nodes, `[3, N]`; updated.
    """
    if allocator in (WEIGHTED, HYBRID):
        _weigh(units, fits, available, asked, totals, pressure, ranks[2])
    if allocator in (BALANCED, HYBRID):
        _take_turns(fits, available, asked, capacity, totals, scarce, ranks)


@compiled()
def _weigh(
    units: int,
    fits: IntArray,
    available: IntArray,
    asked: IntArray,
    totals: IntArray,
    pressure: FloatArray,
    weights: FloatArray,
) -> None:
    """Write the capacity in demand that would be left on each node, `[N]`."""
    for node in range(len(fits)):
        weights[node] = 0.0
    for r in range(len(asked)):
        if totals[r] == 0:
            continue
        for node in range(len(fits)):
            left = available[r, node] - asked[r] * min(fits[node], units)
            weights[node] += pressure[r] * left / totals[r]


@compiled()
def _take_turns(
    fits: IntArray,
    available: IntArray,
    asked: IntArray,
    capacity: IntArray,
    totals: IntArray,
    scarce: BoolArray,
    ranks: FloatArray,
) -> None:
    """Write the turns of nodes by weighted round robin into the first of their ranks.

    The first ranks must be zeros. A class has the nodes with the same scarce resource types that
    the job does not request. Its nodes come in the order of the other ranks: the k-th node of a
    class with a free share s of its types has turn (k + ½) / s. Nodes with none of these types come
    first, at turn 0.
    """
    nodes, count = len(fits), len(asked)
    class_of, first = numbers(nodes), numbers(nodes)
    classes = 0
    free = table(nodes, count)
    for node in range(nodes):
        number = 0
        while number < classes and not _alike(node, first[number], asked, capacity, scarce):
            number += 1
        if number == classes:
            classes += 1
            first[number] = node
            for r in range(count):
                free[number, r] = 0
        class_of[node] = number
        for r in range(count):
            free[number, r] += available[r, node]
    share, turns = shares(classes, 0.0), zeros(classes)
    for number in range(classes):
        types = 0
        for r in range(count):
            if scarce[r] and asked[r] == 0 and capacity[first[number], r]:
                share[number] += free[number, r] / totals[r]
                types += 1
        if types:
            # The bound of `weighted_round_robin`: classes without free capacity stay finite.
            share[number] = max(share[number] / types, 1e-9)
    order = numbers(nodes)
    left = heap_of_nodes(fits, order, ranks)
    turn = shares(nodes, 0.0)
    while left:
        node = order[0]
        number = class_of[node]
        if share[number] > 0:
            turn[node] = (turns[number] + 0.5) / share[number]
            turns[number] += 1
        left -= 1
        order[0] = order[left]
        sift_down(0, left, order, ranks)
    for node in range(nodes):
        ranks[0, node] = turn[node]


@compiled()
def _alike(node: int, other: int, asked: IntArray, capacity: IntArray, scarce: BoolArray) -> bool:
    """Check whether two nodes have the same scarce types beyond those requested."""
    for r in range(len(asked)):
        if scarce[r] and asked[r] == 0 and (capacity[node, r] > 0) != (capacity[other, r] > 0):
            return False
    return True
