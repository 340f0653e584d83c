"""Arrays of the core: made empty, and extended."""

from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FollowedTables, Output, Tables
from hpcsched.system.system import IntArray

_Array = TypeVar("_Array", bound=npt.NDArray[Any])


def followed_tables(events: int, places: int) -> FollowedTables:
    """Return empty tables for a number of events, and of places of jobs that start."""
    return FollowedTables(
        np.empty((events, codes.EVENT_COLUMNS), dtype=np.int64),
        np.empty(places, dtype=np.int32),
        np.empty(places, dtype=np.int32),
    )


def new_output(types: int, jobs: int, places: int, rounds: int) -> Output:
    """Return empty output tables.

    Parameters
    ----------
    types
        Number of resource types.
    jobs
        Number of jobs.
    places
        Number of places of jobs.
    rounds
        Number of rounds.

    Returns
    -------
    Output
        The tables.
    """
    return Output(
        np.empty((jobs, codes.OUT_COLUMNS), dtype=np.int64),
        np.empty(places, dtype=np.int32),
        np.empty(places, dtype=np.int32),
        np.empty((rounds, codes.ROUND_COLUMNS + 3 * types), dtype=np.int64),
        np.empty(rounds),
    )


def new_tables(
    capacity: IntArray, first_slot: IntArray, keys: int, behind_keys: int, cells: int
) -> Tables:
    """Return the state of an idle system without jobs.

    Parameters
    ----------
    capacity
        Capacity of each node, `[N, R]`.
    first_slot
        First slot of each node, `[N + 1]`; `[0]` where slots are not counted.
    keys
        Number of sort keys per job.
    behind_keys
        Number of sort keys of the backfill order per job.
    cells
        Number of cells.

    Returns
    -------
    Tables
        The tables.
    """
    types = capacity.shape[1]
    slots = int(first_slot[-1])
    totals = capacity.sum(axis=0)
    counters = np.zeros(codes.COUNTERS, dtype=np.int64)
    counters[codes.FREE_ROW] = counters[codes.FREE_CELL] = -1
    counters[codes.RELEASE] = counters[codes.CALL_AGAIN] = codes.NEVER
    counters[codes.PAUSED_AT] = -1
    counters[codes.FREE_SLOTS] = slots
    counters[codes.INTERVALS] = 1 if slots else 0
    # Free intervals do not touch, so at most every other slot begins one.
    low, high = (np.zeros(slots // 2 + 2, dtype=np.int64) for _ in range(2))
    high[0] = slots
    none = np.empty(0, dtype=np.int64)
    tables = Tables(
        counters=counters,
        capacity=np.array(capacity),
        totals=totals,
        available=np.array(capacity.T, order="C"),
        free_amounts=totals.copy(),
        waiting_amounts=np.zeros(types, dtype=np.int64),
        held_amounts=np.zeros(types, dtype=np.int64),
        running_amounts=np.zeros(types, dtype=np.int64),
        jobs=np.empty((0, codes.JOB_COLUMNS), dtype=np.int64),
        keys=np.empty((0, keys), dtype=np.int64),
        behind_keys=np.empty((0, behind_keys), dtype=np.int64),
        queue=none,
        behind=none,
        running=none,
        ends=none,
        started=none,
        cells=np.empty((0, 3), dtype=np.int64),
        interval_low=low,
        interval_high=high,
        first_slot=first_slot,
    )
    return with_cells(with_rows(tables, 256), cells)


def with_rows(tables: Tables, rows: int) -> Tables:
    """Return the state with at least `rows` rows for jobs; rows in use keep their numbers."""
    before = len(tables.jobs)
    jobs = with_length(tables.jobs, rows)
    # Unused rows are a list, too: each names the next in its first column.
    jobs[before:, 0] = np.arange(before + 1, rows + 1)
    jobs[-1, 0] = tables.counters[codes.FREE_ROW]
    tables.counters[codes.FREE_ROW] = before
    return tables._replace(
        jobs=jobs,
        keys=with_length(tables.keys, rows),
        behind_keys=with_length(tables.behind_keys, rows),
        queue=with_length(tables.queue, rows),
        behind=with_length(tables.behind, rows),
        running=with_length(tables.running, rows),
        ends=with_length(tables.ends, rows),
        started=with_length(tables.started, rows),
    )


def with_cells(tables: Tables, cells: int) -> Tables:
    """Return the state with at least `cells` cells; cells in use keep their numbers."""
    before = len(tables.cells)
    longer = with_length(tables.cells, cells)
    longer[before:, 2] = np.arange(before + 1, cells + 1)
    longer[-1, 2] = tables.counters[codes.FREE_CELL]
    tables.counters[codes.FREE_CELL] = before
    tables.counters[codes.CELLS_FREE] += cells - before
    return tables._replace(cells=longer)


def with_length(array: _Array, length: int) -> _Array:
    """Return a copy of an array, extended with zeros to at least a length."""
    longer = np.zeros((max(length, len(array)), *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return cast(_Array, longer)
