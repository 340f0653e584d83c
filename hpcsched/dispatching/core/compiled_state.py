"""The state as compiled code sees it: one object that holds all arrays and choices of a replay.

A function of one such argument is compiled in a third of the time that one of many arrays takes.
"""

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from numba.core import types
from numba.experimental import structref

from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.state import Batch, Choices, Output, Shapes, Tables
from hpcsched.system.system import IntArray

FIELDS = (
    *Tables._fields,
    *Shapes._fields,
    *Choices._fields,
    *(f"batch_{name}" for name in Batch._fields),
    *(f"out_{name}" for name in Output._fields),
)
"""The fields of a state, in the order in which `state_of` takes them."""


class State(structref.StructRefProxy):
    """The fields of `Tables`, `Shapes` and `Choices`, and those of `Batch` and `Output`.

    The last two have the prefixes `batch_` and `out_`.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a field; compiled code has them as attributes."""


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
    """A type whose fields hold any value of a kind, not only the one they were made with.

    Its name has a digest of the fields where numba lists them all, since it becomes part of the
    name of each compiled function.
    """

    def __init__(self, fields: Any) -> None:
        super().__init__(fields)
        self.name = f"{type(self).__name__}_{sha256(self.name.encode()).hexdigest()[:16]}"

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


structref.define_proxy(State, StateType, list(FIELDS))
structref.define_constructor(Profile, ProfileType, list(Profile.__annotations__))


@compiled()
def state_of(fields: tuple[Any, ...]) -> State:
    """Return a state of these `FIELDS`."""
    return State(*fields)
