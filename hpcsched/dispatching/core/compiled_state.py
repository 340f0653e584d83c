"""The state as compiled functions see it: one object that holds all arrays and choices of a replay.

A function of one such argument is compiled in a third of the time that one of many arrays takes.
What numba has to know of these objects is in `state_types`.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hpcsched.dispatching.core.state import (
    Batch,
    Choices,
    FlightTables,
    FollowedTables,
    OutageTables,
    Output,
    PoolTables,
    Shapes,
    Tables,
)
from hpcsched.system.system import IntArray

FIELDS = (
    *Tables._fields,
    *Shapes._fields,
    *Choices._fields,
    *OutageTables._fields,
    *FollowedTables._fields,
    *FlightTables._fields,
    *PoolTables._fields,
    *(f"batch_{name}" for name in Batch._fields),
    *(f"out_{name}" for name in Output._fields),
)
"""The fields of a state, in the order in which a state takes them."""


class State:
    """The fields of the tuples of `state`; those of `Batch` and `Output` have prefixes.

    These are `batch_` and `out_`.
    """

    __slots__ = FIELDS

    def __init__(self, *fields: Any) -> None:
        for name, value in zip(FIELDS, fields, strict=True):
            setattr(self, name, value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a field; compiled code has them as attributes."""

        def __setattr__(self, name: str, value: Any) -> None:
            """Replace an array by a longer one."""


@dataclass
class Profile:
    """The segments of a plan: start, the one after, what is free in each; and how many there are.

    They are described in `hpcsched.dispatching.core.plan_kernels`.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    used: IntArray


@dataclass
class Steps:
    """How many units are free from now on: a row of segments, of which `used[0]` are in use.

    They are described in `hpcsched.dispatching.core.row_kernels`.
    """

    start: IntArray
    free: IntArray
    used: IntArray
