"""Lists of cells, written from Python: places of running jobs and of reservations."""

from collections.abc import Iterable

from hpcsched.dispatching.core.compiled import plain
from hpcsched.dispatching.core.slot_kernels import add_cell
from hpcsched.dispatching.core.state import Tables

_add_cell = plain(add_cell)


def add_cells(places: Iterable[tuple[int, int]], tables: Tables) -> int:
    """Write the places of a job into new cells; enough cells must be free.

    Parameters
    ----------
    places
        Pairs of numbers: interval of slots, or node and units.
    tables
        Tables of the state.

    Returns
    -------
    int
        First cell of the list; -1 without places.
    """
    # The list keeps the order of places, as `take_nodes` of the compiled core does.
    first = before = -1
    for one, other in places:
        cell = _add_cell(one, other, tables.cells, tables.counters)
        if before == -1:
            first = cell
        else:
            tables.cells[before, 2] = cell
        before = cell
    return first
