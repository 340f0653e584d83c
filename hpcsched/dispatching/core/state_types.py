"""numba types of the objects of `compiled_state`."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numba import from_dtype
from numba.core import types
from numba.experimental import structref

from hpcsched.dispatching.core.compiled_state import Profile, Steps

_SINGLE = {
    "NoneType": types.none,
    "bool": types.boolean,
    "int": types.int64,
    "float": types.float64,
    "StateFunction": types.int64,  # where its machine code is
}


class _Fields(types.StructRef):
    """Record type with general field types, independent of the values it was made with.

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


def state_type(kinds: str) -> StateType:
    """Return the type of a state with fields of some kinds (see `machine_state`)."""
    return StateType([(name, _type_of(kind)) for name, _, kind in _split(kinds)])


def payload_offsets(state: StateType, context: Any) -> list[int]:
    """Return the offsets of a state's fields in memory, and the offset of their end, in bytes."""
    payload = context.data_model_manager[state.get_data_type()].get_value_type()
    data = context.target_data
    places = range(len(payload.elements))
    return [
        *(payload.get_element_offset(data, place) for place in places),
        payload.get_abi_size(data),
    ]


def _split(kinds: str) -> Sequence[tuple[str, str, str]]:
    return [field.partition(":") for field in kinds.split(" ")]


def _type_of(kind: str) -> types.Type:
    if kind in _SINGLE:
        return _SINGLE[kind]
    dtype, dimensions, order, rest = kind.split(",")
    array: Any = types.Array
    item = from_dtype(np.dtype(dtype))
    return array(item, int(dimensions), order, "r" in rest, aligned="u" not in rest)


def register() -> None:
    """Register the classes with numba."""
    structref.define_constructor(Profile, ProfileType, list(Profile.__annotations__))
    structref.define_constructor(Steps, StepsType, list(Steps.__annotations__))
