"""Compiled binary heaps of rows, the row with the least keys on top."""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray

Columns = tuple[int, int]


@compiled()
def goes_before(one: int, other: int, keys: IntArray, columns: Columns) -> bool:
    """Check whether one row goes before another.

    Parameters
    ----------
    one
        Row of `keys`.
    other
        Row of `keys`.
    keys
        Keys of all rows, `[N, C]`.
    columns
        The two columns to compare, one after the other.

    Returns
    -------
    bool
        Whether `one` has the smaller keys.
    """
    first, then = columns
    if keys[one, first] != keys[other, first]:
        return bool(keys[one, first] < keys[other, first])
    return bool(keys[one, then] < keys[other, then])


@compiled()
def sift_down(at: int, count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Move a row of a heap down until it goes before all below it.

    Parameters
    ----------
    at
        Position of the row in the heap.
    count
        Number of rows in the heap.
    rows
        The heap; changed in place.
    keys
        Keys of all rows, `[N, C]`.
    columns
        The two columns to compare.
    """
    while True:
        child = 2 * at + 1
        if child >= count:
            return
        if child + 1 < count and goes_before(rows[child + 1], rows[child], keys, columns):
            child += 1
        if not goes_before(rows[child], rows[at], keys, columns):
            return
        rows[at], rows[child] = rows[child], rows[at]
        at = child


@compiled()
def make_heap(count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Turn the first `count` rows into a heap.

    Parameters
    ----------
    count
        Number of rows.
    rows
        Rows; changed in place.
    keys
        Keys of all rows, `[N, C]`.
    columns
        The two columns to compare.
    """
    for k in range(count // 2 - 1, -1, -1):
        sift_down(k, count, rows, keys, columns)


@compiled()
def push(row: int, count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Push a row onto a heap of `count` rows.

    Parameters
    ----------
    row
        Row to push.
    count
        Number of rows before.
    rows
        The heap, with room for one more; changed in place.
    keys
        Keys of all rows, `[N, C]`.
    columns
        The two columns to compare.
    """
    # No check of the size: callers have as many places as rows.
    at = count
    rows[at] = row
    while at:
        above = (at - 1) // 2
        if not goes_before(rows[at], rows[above], keys, columns):
            return
        rows[at], rows[above] = rows[above], rows[at]
        at = above


@compiled()
def pop(count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Remove the top of a heap of `count` rows.

    Parameters
    ----------
    count
        Number of rows before.
    rows
        The heap; changed in place.
    keys
        Keys of all rows, `[N, C]`.
    columns
        The two columns to compare.
    """
    rows[0] = rows[count - 1]
    sift_down(0, count - 1, rows, keys, columns)
