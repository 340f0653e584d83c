"""State for machine code: addresses of its arrays, in one block of memory.

numba is not needed for it, so that stored code runs without importing numba.
"""

import sys
from collections.abc import Callable, Sequence
from ctypes import addressof, create_string_buffer
from functools import cache, cached_property
from struct import pack_into, unpack_from
from typing import Any

import numpy as np

from hpcsched.dispatching.core.compiled_state import FIELDS
from hpcsched.dispatching.core.state_function import StateFunction

# What numba keeps of an object before its fields: how often it is referred to, by what it is let go
# of, and where its fields are. Nobody but Python lets go of a state.
_HEAD = "=qqqqqq"
_HEAD_SIZE = 48
_HELD = 1 << 40

_C_CONTIGUOUS, _F_CONTIGUOUS, _ALIGNED, _WRITEABLE = 0x1, 0x2, 0x100, 0x400

_FORMATS = {bool: "=?", int: "=q", float: "=d"}


class MachineState:
    """Fields of a state (see `compiled_state`), for functions that run as machine code.

    Parameters
    ----------
    fields
        Values in the order of `FIELDS`.
    """

    _release: Callable[[int], object] | None = None  # also of an object whose making failed

    def __init__(self, *fields: Any) -> None:
        self._fields = fields

    @cached_property
    def kinds(self) -> str:
        """Kinds of the fields, as text."""
        return kinds_of(self._fields)

    def address(self, offsets: Sequence[int], release: Callable[[int], object]) -> int:
        """Return the address of the state in memory, which is written on first use.

        Parameters
        ----------
        offsets
            Offset of each field in bytes, and of their end.
        release
            Function that releases an array which compiled code has put in the place of another.

        Returns
        -------
        int
            The address.
        """
        if self._release is None:
            self._release, self._offsets = release, offsets
            self._memory = create_string_buffer(_HEAD_SIZE + offsets[-1])
            where = addressof(self._memory)
            pack_into(_HEAD, self._memory, 0, _HELD, 0, 0, where + _HEAD_SIZE, 0, 0)
            for offset, value in zip(offsets, self._fields, strict=False):
                if isinstance(value, np.ndarray):
                    # As numba has arrays: who made it, which is nobody, sizes, and where it is.
                    size = value.size, value.itemsize, value.ctypes.data
                    words = 0, 0, *size, *value.shape, *value.strides
                    pack_into(f"={len(words)}q", self._memory, _HEAD_SIZE + offset, *words)
                elif isinstance(value, StateFunction):
                    pack_into("=q", self._memory, _HEAD_SIZE + offset, value.address(self.kinds))
                elif value is not None:
                    pack_into(_FORMATS[type(value)], self._memory, _HEAD_SIZE + offset, value)
        return addressof(self._memory)

    # A default, since at the interpreter's end the names of modules may be empty already.
    def __del__(self, ending: Callable[[], bool] = sys.is_finalizing) -> None:
        """Release the arrays that compiled code has made; not at the interpreter's end."""
        if self._release is not None and not ending():
            for offset, value in zip(self._offsets, self._fields, strict=False):
                if isinstance(value, np.ndarray):
                    (made,) = unpack_from("=q", self._memory, _HEAD_SIZE + offset)
                    if made:
                        self._release(made)


def kinds_of(fields: Sequence[Any]) -> str:
    """Return the kinds of a state's fields as text: code is compiled for each combination."""
    return " ".join(f"{name}:{_kind_of(value)}" for name, value in zip(FIELDS, fields, strict=True))


def _kind_of(value: Any) -> str:
    """Return the kind of a field: its type, and for an array its memory layout."""
    if not isinstance(value, np.ndarray):
        return type(value).__name__
    return _array_kind(value.dtype, value.ndim, value.flags.num)


@cache
def _array_kind(dtype: np.dtype[Any], dimensions: int, flags: int) -> str:
    """Return the kind of arrays from the bits of their flags, as NumPy's C interface numbers them.

    A state has a hundred fields, and their kinds are asked for with each batch of jobs.
    """
    order = "C" if flags & _C_CONTIGUOUS else "F" if flags & _F_CONTIGUOUS else "A"
    rest = "" if flags & _WRITEABLE else "r"
    rest += "" if flags & _ALIGNED else "u"
    return f"{dtype.str},{dimensions},{order},{rest}"
