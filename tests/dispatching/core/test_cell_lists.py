"""Lists of cells by hand."""

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.cell_lists import add_cells
from hpcsched.dispatching.core.state_arrays import new_tables


def test_a_list_keeps_the_order_of_its_places() -> None:
    """Two of four cells are used: node 2 with 3 units, then node 5 with 1."""
    tables = new_tables(np.array([[8]]), np.zeros(1, dtype=np.int64), 0, 0, 4)
    cell = add_cells([(2, 3), (5, 1)], tables)
    places = []
    while cell != -1:
        node, units, cell = tables.cells[cell].tolist()
        places.append((node, units))
    assert places == [(2, 3), (5, 1)]
    assert tables.counters[codes.CELLS_FREE] == 4 - 2


def test_no_places_use_no_cell() -> None:
    """The list is empty, and all four cells stay free."""
    tables = new_tables(np.array([[8]]), np.zeros(1, dtype=np.int64), 0, 0, 4)
    assert add_cells([], tables) == -1
    assert tables.counters[codes.CELLS_FREE] == 4
