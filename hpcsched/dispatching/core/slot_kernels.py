"""Compiled places of jobs: intervals of free slots, and lists of cells.

Slots are numbered node by node; free ones form ascending intervals that do not touch.
"""

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.core.codes import CELLS_FREE, FREE_CELL, FREE_SLOTS, INTERVALS
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray


@compiled()
def add_cell(first: int, second: int, cells: IntArray, counters: IntArray) -> int:
    """Return a new cell with two numbers and without a successor.

    Parameters
    ----------
    first
        First slot, or node.
    second
        Slot behind the last, or units.
    cells
        Table of cells; updated.
    counters
        Counters; updated.

    Returns
    -------
    int
        The cell.
    """
    cell = counters[FREE_CELL]
    counters[FREE_CELL] = cells[cell, 2]
    counters[CELLS_FREE] -= 1
    cells[cell, 0] = first
    cells[cell, 1] = second
    cells[cell, 2] = -1
    return cell


@compiled()
def drop_cells(first: int, cells: IntArray, counters: IntArray) -> None:
    """Free a list of cells."""
    cell = first
    while cell != -1:
        after = cells[cell, 2]
        cells[cell, 2] = counters[FREE_CELL]
        counters[FREE_CELL] = cell
        counters[CELLS_FREE] += 1
        cell = after


@compiled()
def take_lowest_slots(
    units: int, low: IntArray, high: IntArray, cells: IntArray, counters: IntArray
) -> int:
    """Take the lowest free slots.

    Parameters
    ----------
    units
        Number of slots; as many must be free.
    low
        Starts of free intervals; updated.
    high
        Ends of free intervals; updated.
    cells
        Table of cells; updated.
    counters
        Counters; updated.

    Returns
    -------
    int
        First cell of the intervals taken.
    """
    missing = units
    first, previous = -1, -1
    k = 0
    while missing > 0:
        end = min(high[k], low[k] + missing)
        cell = add_cell(low[k], end, cells, counters)
        if previous == -1:
            first = cell
        else:
            cells[previous, 2] = cell
        previous = cell
        missing -= end - low[k]
        # An interval in use up to its end is dropped below, the last one is cut.
        if end == high[k]:
            k += 1
        else:
            low[k] = end
    counters[FREE_SLOTS] -= units
    if k:
        count = counters[INTERVALS] - k
        for i in range(count):
            low[i] = low[i + k]
            high[i] = high[i + k]
        counters[INTERVALS] = count
    return first


@compiled()
def give_slots_back(
    first: int, low: IntArray, high: IntArray, cells: IntArray, counters: IntArray
) -> None:
    """Free the slots of a list of cells, and the cells.

    Parameters
    ----------
    first
        First cell.
    low
        Starts of free intervals; updated.
    high
        Ends of free intervals; updated.
    cells
        Table of cells; updated.
    counters
        Counters; updated.
    """
    cell = first
    count = counters[INTERVALS]
    while cell != -1:
        begin, end = cells[cell, 0], cells[cell, 1]
        counters[FREE_SLOTS] += end - begin
        # Intervals are sorted, so the neighbours are found by bisection.
        left, right = 0, count
        while left < right:
            middle = (left + right) // 2
            if low[middle] < begin:
                left = middle + 1
            else:
                right = middle
        joins_before = left > 0 and high[left - 1] == begin
        joins_after = left < count and low[left] == end
        if joins_before and joins_after:
            high[left - 1] = high[left]
            count -= 1
            for i in range(left, count):
                low[i] = low[i + 1]
                high[i] = high[i + 1]
        elif joins_before:
            high[left - 1] = end
        elif joins_after:
            low[left] = begin
        else:
            for i in range(count, left, -1):
                low[i] = low[i - 1]
                high[i] = high[i - 1]
            low[left] = begin
            high[left] = end
            count += 1
        cell = cells[cell, 2]
    counters[INTERVALS] = count
    drop_cells(first, cells, counters)


def _write_nodes_in_python(
    first: int,
    at: int,
    first_slot: IntArray,
    cells: IntArray,
    nodes: npt.NDArray[np.int32],
    units: npt.NDArray[np.int32],
) -> int:
    """Do the work of `write_nodes_of_slots`, many nodes at once, which suits Python."""
    begin_at, bounds = at, np.asarray(first_slot)
    cell = first
    while cell != -1:
        slot, end = cells[cell, 0], cells[cell, 1]
        left = int(np.searchsorted(bounds, slot, side="right")) - 1
        right = int(np.searchsorted(bounds, end))
        counts = np.diff(np.clip(bounds[left : right + 1], slot, end))
        on = np.flatnonzero(counts)
        if at > begin_at and nodes[at - 1] == left + on[0]:
            units[at - 1] += counts[on[0]]
            on = on[1:]
        nodes[at : at + len(on)] = left + on
        units[at : at + len(on)] = counts[on]
        at += len(on)
        cell = cells[cell, 2]
    return at


@compiled(plainly=_write_nodes_in_python)
def write_nodes_of_slots(
    first: int,
    at: int,
    first_slot: IntArray,
    cells: IntArray,
    nodes: npt.NDArray[np.int32],
    units: npt.NDArray[np.int32],
) -> int:
    """Write the nodes of a list of slot intervals, and the slots on each.

    Parameters
    ----------
    first
        First cell of the list.
    at
        First position in the output.
    first_slot
        First slot of each node, `[N + 1]`.
    cells
        Table of cells.
    nodes
        Output of node numbers.
    units
        Output of slots per node.

    Returns
    -------
    int
        Position behind the last.
    """
    begin_at = at
    cell = first
    while cell != -1:
        slot, end = cells[cell, 0], cells[cell, 1]
        left, right = 0, len(first_slot) - 1
        # The node of the first slot; the following ones are beside it.
        while left < right:
            middle = (left + right) // 2
            if first_slot[middle + 1] <= slot:
                left = middle + 1
            else:
                right = middle
        node = left
        while slot < end:
            until = min(end, first_slot[node + 1])
            if until > slot:
                # Two intervals of slots may share a node.
                if at > begin_at and nodes[at - 1] == node:
                    units[at - 1] += until - slot
                else:
                    nodes[at] = node
                    units[at] = until - slot
                    at += 1
                slot = until
            node += 1
        cell = cells[cell, 2]
    return at


@compiled()
def write_nodes(
    first: int,
    at: int,
    cells: IntArray,
    nodes: npt.NDArray[np.int32],
    units: npt.NDArray[np.int32],
) -> int:
    """Write the nodes of a list of cells, and the units on each.

    Parameters
    ----------
    first
        First cell of the list.
    at
        First position in the output.
    cells
        Table of cells.
    nodes
        Output of node numbers.
    units
        Output of units per node.

    Returns
    -------
    int
        Position behind the last.
    """
    cell = first
    while cell != -1:
        nodes[at] = cells[cell, 0]
        units[at] = cells[cell, 1]
        at += 1
        cell = cells[cell, 2]
    return at
