"""Lists of cells, written from Python: places of running jobs and of reservations."""

from collections.abc import Iterable

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Tables


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
    # The list keeps the order of places, as the core does.
    cells, counters = tables.cells, tables.counters
    first = before = -1
    for one, other in places:
        cell = int(counters[codes.FREE_CELL])
        counters[codes.FREE_CELL] = cells[cell, 2]
        counters[codes.CELLS_FREE] -= 1
        cells[cell] = one, other, -1
        if before == -1:
            first = cell
        else:
            cells[before, 2] = cell
        before = cell
    return first
