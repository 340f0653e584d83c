"""Traversal of a validated scenario, block by block and field by field."""

from collections.abc import Iterator
from typing import Any, TypeVar, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hpcsched.parameters import NotReproducible, Params
from hpcsched.scenario.key_path import KeyPath

_T = TypeVar("_T")


def blocks(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, BaseModel]]:
    """Yield every block of parameters in a value, with its key path, from the outside in."""
    if isinstance(value, BaseModel):
        yield path, value
        for name in type(value).model_fields:
            yield from blocks(getattr(value, name), (*path, name))
    else:
        for step, item in _items(value):
            yield from blocks(item, (*path, step))


def texts(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield every text in a value of plain types, with its key path."""
    if isinstance(value, str):
        yield path, value
    for step, item in _items(value):
        yield from texts(item, (*path, step))


def mark_of(field: FieldInfo, mark: type[_T]) -> _T | None:
    """Return the mark of a type in a field's annotation, such as `NotReproducible`."""
    return _first([*field.metadata, field.annotation], mark)


def _first(parts: Any, mark: type[_T]) -> _T | None:
    for part in parts:
        if isinstance(part, mark):
            return part
        inner = (*get_args(part), *getattr(part, "__metadata__", ()))
        found = _first(inner, mark)
        if found is not None:
            return found
    return None


def _items(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(value)


def marks_of(block: BaseModel) -> Iterator[tuple[KeyPath, str]]:
    """Yield key and reason of the choices of a block that make results depend on the machine."""
    if isinstance(block, Params) and block.not_reproducible is not None:
        yield (), block.not_reproducible.why
    # Only what the user has set can make a difference; defaults are reproducible by design.
    for name in block.model_fields_set:
        field = type(block).model_fields[name]
        mark = mark_of(field, NotReproducible)
        default = field.get_default(call_default_factory=True, validated_data={})
        if mark is not None and getattr(block, name) != default:
            yield (name,), mark.why
