"""Compiled allocation of arrays.

numba compiles numpy's functions anew for each combination of arguments, so that all that allocate
share these.
"""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


def _list(count: int) -> list[int]:
    """Return room for numbers as a list, whose single elements Python has much sooner."""
    return [0] * count


@compiled(_list)
def numbers(count: int) -> IntArray:
    """Return room for so many whole numbers."""
    return np.empty(count, np.int64)


@compiled()
def zeros(count: int) -> IntArray:
    """Return so many zeros."""
    array = numbers(count)
    for k in range(count):
        array[k] = 0
    return array


@compiled()
def table(rows: int, columns: int) -> IntArray:
    """Return room for whole numbers in rows and columns."""
    return np.empty((rows, columns), np.int64)


@compiled()
def shares(count: int, share: float) -> FloatArray:
    """Return a share as often as is said."""
    array = np.empty(count, np.float64)
    for k in range(count):
        array[k] = share
    return array


@compiled()
def table_of_zeros(rows: int, columns: int) -> FloatArray:
    """Return rows and columns of zeros."""
    array = np.empty((rows, columns), np.float64)
    for k in range(rows):
        for i in range(columns):
            array[k, i] = 0.0
    return array
