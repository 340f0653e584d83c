"""Compiled allocation of arrays.

numba compiles numpy's functions anew for each combination of arguments, so all kernels that
allocate share these.
"""

import numpy as np

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import FloatArray
from hpcsched.system.system import IntArray


def _list(count: int) -> list[int]:
    """Return a list in place of an array: Python reads its elements much faster."""
    return [0] * count


@compiled(_list)
def numbers(count: int) -> IntArray:
    """Return an uninitialised array of integers, `[count]`."""
    return np.empty(count, np.int64)


@compiled()
def zeros(count: int) -> IntArray:
    """Return an array of integer zeros, `[count]`."""
    # np.zeros would be one more function of numpy for numba to compile.
    array = numbers(count)
    for k in range(count):
        array[k] = 0
    return array


@compiled()
def table(rows: int, columns: int) -> IntArray:
    """Return an uninitialised array of integers, `[rows, columns]`."""
    return np.empty((rows, columns), np.int64)


@compiled()
def shares(count: int, share: float) -> FloatArray:
    """Return an array of `count` equal floats."""
    array = np.empty(count, np.float64)
    for k in range(count):
        array[k] = share
    return array


@compiled()
def table_of_zeros(rows: int, columns: int) -> FloatArray:
    """Return an array of float zeros, `[rows, columns]`."""
    array = np.empty((rows, columns), np.float64)
    for k in range(rows):
        for i in range(columns):
            array[k, i] = 0.0
    return array
