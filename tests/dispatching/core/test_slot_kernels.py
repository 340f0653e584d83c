"""Where jobs run, written out of lists of cells: in Python as in compiled code."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.slot_kernels import write_nodes_of_slots
from tests.strategies import tries


def written(per_node: list[int], cells: list[tuple[int, int]]) -> list[list[int]]:
    """Return the nodes that Python writes, and the units on each, behind two that were there."""
    first_slot = np.cumsum([0, *per_node])
    following = [*range(1, len(cells)), -1]
    listed = np.array([(*cell, after) for cell, after in zip(cells, following, strict=True)])
    nodes, units = np.full((2, 2 + len(per_node)), 7, dtype=np.int32)
    end = plain(write_nodes_of_slots)(0, 2, first_slot.data, listed.data, nodes, units)
    assert nodes[:2].tolist() == units[:2].tolist() == [7, 7]
    return [nodes[2:end].tolist(), units[2:end].tolist()]


def test_nodes_by_hand() -> None:
    """Nodes 0 to 3 have slots 0 to 1, none, 2 to 4 and 5 to 6.

    The first cell has slots 1 to 2, of nodes 0 and 2, the second slots 4 to 5: one more of node 2,
    and one of node 3.
    """
    assert written([2, 0, 3, 2], [(1, 3), (4, 6)]) == [[0, 2, 3], [1, 2, 1]]


@tries(60)
@given(data=st.data())
def test_nodes_of_any_slots(data: st.DataObject) -> None:
    """Each node that owns a slot is written once, with as many units as it owns of them."""
    per_node = data.draw(st.lists(st.integers(0, 4), min_size=1, max_size=6).filter(any))
    owner = [node for node, count in enumerate(per_node) for _ in range(count)]
    slots = data.draw(st.sets(st.sampled_from(range(len(owner))), min_size=1))
    counts = np.bincount([owner[slot] for slot in slots], minlength=len(per_node))
    nodes = np.flatnonzero(counts)
    cells = [(slot, slot + 1) for slot in sorted(slots)]
    joined = [cells[0]]
    for low, high in cells[1:]:
        if joined[-1][1] == low:
            joined[-1] = joined[-1][0], high
        else:
            joined.append((low, high))
    expected = [nodes.tolist(), counts[nodes].tolist()]
    assert written(per_node, cells) == written(per_node, joined) == expected
