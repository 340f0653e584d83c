"""The state as compiled code sees it: one object that holds all arrays and choices of a replay.

A function of one such argument is compiled in a third of the time that one of many arrays takes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba.core import types
from numba.experimental import structref

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import BoolArray, FloatArray
from hpcsched.system.system import IntArray


class State(structref.StructRefProxy):
    """The fields of `Tables`, `Shapes`, `Choices`, and those of `Batch` and `Output`, prefixed."""

    counters: IntArray
    capacity: IntArray
    totals: IntArray
    available: IntArray
    free_amounts: IntArray
    waiting_amounts: IntArray
    running_amounts: IntArray
    jobs: IntArray
    keys: IntArray
    behind_keys: IntArray
    queue: IntArray
    behind: IntArray
    running: IntArray
    ends: IntArray
    cells: IntArray
    interval_low: IntArray
    interval_high: IntArray
    first_slot: IntArray
    clock: IntArray
    asked: IntArray
    on_idle: IntArray
    exclusive: BoolArray
    uncountable: BoolArray
    fits: IntArray
    fitting: IntArray
    shape_waiting: IntArray
    active: IntArray
    rule: int
    depth: int
    own_backfill_order: bool
    allocator: int
    correction: int
    counts_slots: bool
    batch_number: IntArray
    batch_submit_time: IntArray
    batch_run_time: IntArray
    batch_predicted: IntArray
    batch_requested: IntArray
    batch_units: IntArray
    batch_shape: IntArray
    batch_keys: IntArray
    batch_behind_keys: IntArray
    batch_last: bool
    out_jobs: IntArray
    out_nodes: npt.NDArray[np.int32]
    out_units: npt.NDArray[np.int32]
    out_rounds: IntArray
    out_decision_times: FloatArray


@dataclass
class Profile:
    """The segments of a plan: start, the one after, what is free in each; and how many there are.

    They are described in `hpcsched.dispatching.core.plan_kernels`.
    """

    start: IntArray
    after: IntArray
    free: IntArray
    used: IntArray


class _Fields(types.StructRef):
    """A type whose fields hold any value of a kind, not only the one they were made with."""

    def preprocess_fields(
        self, fields: list[tuple[str, types.Type]]
    ) -> list[tuple[str, types.Type]]:
        """Return the fields with their general types."""
        return [(name, types.unliteral(kind)) for name, kind in fields]


@structref.register
class StateType(_Fields):
    """The type of a `State` in compiled code."""


@structref.register
class ProfileType(_Fields):
    """The type of a `Profile` in compiled code."""


structref.define_proxy(State, StateType, list(State.__annotations__))
structref.define_constructor(Profile, ProfileType, list(Profile.__annotations__))


@compiled()
def state_of(fields: tuple[Any, ...]) -> State:
    """Return a state of the fields of `Tables`, `Shapes`, `Choices`, `Batch` and `Output`."""
    return State(*fields)
