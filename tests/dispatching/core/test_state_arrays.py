"""Arrays of the core by hand."""

import numpy as np

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state_arrays import (
    followed_tables,
    new_output,
    new_tables,
    with_cells,
    with_length,
    with_rows,
)

NODES = np.array([[4, 1], [6, 0]])


def unused(links: list[int], first: int) -> list[int]:
    """Return the numbers on a list of unused entries."""
    found = []
    while first != -1:
        found.append(first)
        first = links[first]
    return found


def test_an_idle_system() -> None:
    """All of 10 cores and 1 GPU is free; 5 slots are one interval from 0 to 5."""
    tables = new_tables(NODES, np.array([0, 2, 5]), 0, 0, 3)
    assert tables.free_amounts.tolist() == [10, 1]
    assert tables.available.tolist() == [[4, 6], [1, 0]]
    assert tables.counters[codes.FREE_SLOTS] == 5
    assert tables.counters[codes.INTERVALS] == 1
    assert (tables.interval_low[0], tables.interval_high[0]) == (0, 5)


def test_no_slots_are_no_interval() -> None:
    """Where slots are not counted none is free."""
    tables = new_tables(NODES, np.zeros(1, dtype=np.int64), 0, 0, 1)
    assert tables.counters[codes.FREE_SLOTS] == tables.counters[codes.INTERVALS] == 0


def test_added_cells_are_unused_before_the_others() -> None:
    """Of 3 cells number 0 is in use; 2 more come first on the list of unused ones."""
    tables = new_tables(NODES, np.zeros(1, dtype=np.int64), 0, 0, 3)
    tables.counters[codes.FREE_CELL], tables.counters[codes.CELLS_FREE] = 1, 2
    tables.cells[0] = 7, 8, -1
    longer = with_cells(tables, 5)
    assert longer.cells[0].tolist() == [7, 8, -1]
    assert unused(longer.cells[:, 2].tolist(), longer.counters[codes.FREE_CELL]) == [3, 4, 1, 2]
    assert longer.counters[codes.CELLS_FREE] == 4


def test_added_rows_are_unused_before_the_others() -> None:
    """An idle state has 256 unused rows; with 258, rows 256 and 257 come first."""
    tables = new_tables(NODES, np.zeros(1, dtype=np.int64), 0, 0, 1)
    longer = with_rows(tables, 258)
    rows = unused(longer.jobs[:, 0].tolist(), longer.counters[codes.FREE_ROW])
    assert rows == [256, 257, *range(256)]
    assert len(longer.queue) == len(longer.ends) == 258


def test_lengths() -> None:
    """Arrays grow with zeros and never shrink; a round has three columns for each of two types."""
    assert with_length(np.array([5, 6]), 4).tolist() == [5, 6, 0, 0]
    assert with_length(np.array([5, 6]), 1).tolist() == [5, 6]
    assert new_output(2, 3, 4, 5).rounds.shape == (5, codes.ROUND_COLUMNS + 6)
    followed = followed_tables(7, 9)
    assert followed.events is not None
    assert followed.start_nodes is not None
    assert (len(followed.events), len(followed.start_nodes)) == (7, 9)
