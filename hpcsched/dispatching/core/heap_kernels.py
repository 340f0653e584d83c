"""Compiled heaps of rows: the row with the least numbers on top."""

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray

Columns = tuple[int, int]


@compiled()
def goes_before(one: int, other: int, keys: IntArray, columns: Columns) -> bool:
    """Say whether a row goes before another.

    Parameters
    ----------
    one, other : int
        Rows of `keys`.
    keys : array of int, `[N, C]`
        Numbers of all rows.
    columns : pair of int
        The columns that are compared, one after the other.
    """
    first, then = columns
    if keys[one, first] != keys[other, first]:
        return bool(keys[one, first] < keys[other, first])
    return bool(keys[one, then] < keys[other, then])


@compiled()
def sift_down(at: int, count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Move a row of a heap of `count` rows down until it goes before all below it."""
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
    """Make a heap of the first `count` rows."""
    for k in range(count // 2 - 1, -1, -1):
        sift_down(k, count, rows, keys, columns)


@compiled()
def push(row: int, count: int, rows: IntArray, keys: IntArray, columns: Columns) -> None:
    """Put a row on a heap of `count` rows."""
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
    """Take the top off a heap of `count` rows."""
    rows[0] = rows[count - 1]
    sift_down(0, count - 1, rows, keys, columns)
