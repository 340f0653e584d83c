"""State object of compiled functions: all arrays and choices of a replay as attributes.

A function with one such argument compiles in a third of the time of one with many arrays.
`state_types` describes these objects to numba.
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
    Shapes,
    SharedResourceTables,
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
    *SharedResourceTables._fields,
    *(f"batch_{name}" for name in Batch._fields),
    *(f"out_{name}" for name in Output._fields),
)
"""Fields of a state, in the order of its constructor's arguments."""


class State:
    """State of a replay: the fields of the tuples of `state` as attributes.

    Fields of `Batch` and `Output` have the prefixes `batch_` and `out_`.
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
    """Free amounts over time on each node, as linked segments (see `plan_kernels`).

    Attributes
    ----------
    start
        Start of each segment, in seconds.
    after
        Next segment of the same node; -1 for the last.
    free
        Free amount of each resource type in each segment, `[segments, R]`.
    used
        Number of segments in use, and the node of the last reservation of one unit.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    used: IntArray


@dataclass
class Steps:
    """Free units over time, as a row of segments (see `row_kernels`).

    Attributes
    ----------
    start
        Start of each segment, in seconds.
    free
        Free units in each segment.
    used
        Number of segments in use, `[1]`.
    """

    start: IntArray
    free: IntArray
    used: IntArray
