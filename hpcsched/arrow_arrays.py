"""Conversion between NumPy and Arrow arrays by their memory buffers.

`pyarrow.array` and `to_numpy` import pandas first, where it is installed, to recognise its types.
That takes longer than the replay of a log of 28,000 jobs.
"""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow._compute import call_function

_KINDS: dict[np.dtype[Any], pa.DataType] = {
    np.dtype(np.int8): pa.int8(),
    np.dtype(np.int32): pa.int32(),
    np.dtype(np.int64): pa.int64(),
    np.dtype(np.float64): pa.float64(),
}
_TYPES = {kind: dtype for dtype, kind in _KINDS.items()}


def arrow_array(
    values: npt.NDArray[np.generic], missing: npt.NDArray[np.bool_] | None = None
) -> pa.Array:
    """Convert numbers or flags `[n]` to an Arrow array, with null where `missing` is True."""
    valid = None if missing is None else _bits(~missing)
    if values.dtype == np.bool_:
        return pa.Array.from_buffers(
            pa.bool_(), len(values), [valid, _bits(values.astype(np.bool_))]
        )
    # Arrow reads the buffer from its first byte on and knows no strides.
    data = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(_KINDS[values.dtype], len(values), [valid, data])


def python_array(values: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Convert numbers, flags, texts or lists of them to an Arrow array; None becomes null."""
    missing = np.array([value is None for value in values], dtype=np.bool_)
    texts = kind == pa.string()
    if not (texts or pa.types.is_list(kind)):
        known = [0 if value is None else value for value in values]
        numbers = np.array(known, dtype=_TYPES.get(kind, np.dtype(np.bool_)))
        return arrow_array(numbers, missing if missing.any() else None)
    # Arrow's offsets count bytes, not characters.
    parts: list[Any] = [(value or "").encode() if texts else value or () for value in values]
    ends = pa.py_buffer(np.cumsum([0, *map(len, parts)], dtype=np.int32))
    buffers = [_bits(~missing) if missing.any() else None, ends]
    if texts:
        return pa.Array.from_buffers(kind, len(parts), [*buffers, pa.py_buffer(b"".join(parts))])
    inside = python_array(list(chain.from_iterable(parts)), kind.value_type)
    return pa.Array.from_buffers(kind, len(parts), buffers, children=[inside])


def null_structs(kind: pa.StructType, count: int) -> pa.Array:
    """Return an array of null structs without nulls in their fields, as Parquet may require."""
    zeros = pa.py_buffer(bytes(8 * (count + 1)))
    fields = [
        pa.Array.from_buffers(
            field.type, count, [None, zeros, *([zeros] if field.type == pa.string() else [])]
        )
        for field in kind
    ]
    return pa.Array.from_buffers(kind, count, [zeros], children=fields)


def numpy_array(values: pa.Array) -> npt.NDArray[Any]:
    """Convert an Arrow array to NumPy, numbers without a copy."""
    dtype = _TYPES.get(values.type)
    if values.null_count or (dtype is None and values.type != pa.bool_()):
        return np.asarray(values.to_numpy(zero_copy_only=False))
    count, offset = len(values), values.offset
    if not count:
        return np.empty(0, dtype=np.bool_ if dtype is None else dtype)
    _, data = values.buffers()
    if dtype is not None:
        return np.frombuffer(data, dtype, count, offset * dtype.itemsize)
    # Arrow stores flags as bits, lowest first; a sliced array begins inside a byte.
    flags = np.unpackbits(np.frombuffer(data, np.uint8), count=offset + count, bitorder="little")
    return flags[offset:].astype(np.bool_)


def computed(function: str, *values: Any) -> Any:
    """Call a function of Arrow by name: methods import `pyarrow.compute`, which takes its time."""
    return call_function(function, values)


def _bits(flags: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
