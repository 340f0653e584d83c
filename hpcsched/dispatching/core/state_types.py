"""The objects of `compiled_state` as numba knows them."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

from numba import typeof
from numba.core import types
from numba.experimental import structref

from hpcsched.dispatching.core.compiled_state import FIELDS, Profile, State, Steps


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


@structref.register
class StepsType(_Fields):
    """The type of `Steps` in compiled code."""


class HeldState(structref.StructRefProxy):
    """What Python has of a `State` that compiled code has made: it can be passed on."""


def state_type(fields: Sequence[Any]) -> StateType:
    """Return the type of a state of these fields."""
    return StateType(list(zip(FIELDS, map(typeof, fields), strict=True)))


def register() -> None:
    """Tell numba of the classes."""
    structref.define_constructor(State, StateType, list(FIELDS))
    structref.define_boxing(StateType, HeldState)
    structref.define_constructor(Profile, ProfileType, list(Profile.__annotations__))
    structref.define_constructor(Steps, StepsType, list(Steps.__annotations__))
