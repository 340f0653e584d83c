"""Clock for compiled functions, which cannot call Python's."""

from time import monotonic
from typing import Any

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.system.system import IntArray

MONOTONIC = 1


class _ClockGettime:
    """The C library's `clock_gettime`."""

    def __call__(self, clock: int, seconds: Any) -> int:
        """Write the seconds and nanoseconds of a clock; return 0."""
        raise TypeError("only compiled code calls this")

    @property
    def _numba_type_(self) -> Any:
        from numba import types  # noqa: PLC0415 (numba)

        arguments = types.int32, types.CPointer(types.int64)
        return types.ExternalFunction("clock_gettime", types.int32(*arguments))


clock_gettime = _ClockGettime()


def _python_clock(_room: IntArray) -> float:
    return monotonic()


@compiled(_python_clock)
def seconds(room: IntArray) -> float:
    """Return the reading of a monotonic clock, in seconds.

    Parameters
    ----------
    room
        Buffer for the C function, `[2]`.

    Returns
    -------
    float
        Seconds since an arbitrary instant.
    """
    # The buffer is an argument, so that no call allocates one.
    clock_gettime(MONOTONIC, room.ctypes)
    return room[0] + 1e-9 * room[1]
