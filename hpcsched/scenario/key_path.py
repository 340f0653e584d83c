"""Key paths: positions in a document, such as `system.groups[0].count`."""

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, TypeVar, get_args

from pydantic import BaseModel

from hpcsched.parameters import NotReproducible, Params

KeyPath = tuple[str | int, ...]

_PLAIN = re.compile(r"[\w-]+")
_STEP = re.compile(r'\[(\d+)\]|\.?("(?:[^"\\]|\\.)*"|[^.\[\]]+)')


def show_key_path(path: KeyPath) -> str:
    """Return a key path as people write it, on one line."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            # A key with a dot or a line break in it would read as two steps, or break a one-line
            # message.
            name = step if _PLAIN.fullmatch(step) else json.dumps(step)
            text += f".{name}" if text else name
    return text


def parse_key_path(text: str) -> KeyPath:
    """Return the steps of a key path; steps in brackets are list positions.

    A number or a name between dots stays a text: only the document knows if it is a key, the
    position of an item in a list, or an item's name.

    Raises ValueError if the text is no key path.

    Examples
    --------
    >>> parse_key_path("system.groups[0].count")
    ('system', 'groups', 0, 'count')
    """
    steps: list[str | int] = []
    end = 0
    while end < len(text):
        match = _STEP.match(text, end)
        # The first step has no separator in front, and every other one has.
        if match is None or (end == 0) == match[0].startswith((".", "[")):
            raise ValueError(f"{text!r} is not a key path such as system.groups[0].count")
        name = match[2]
        # In quotes as `show_key_path` writes a key with a dot in it.
        quoted = name is not None and len(name) > 1 and name[0] == name[-1] == '"'
        steps.append(int(match[1]) if match[1] else json.loads(name) if quoted else name)
        end = match.end()
    if not steps:
        raise ValueError("the key path is empty")
    return tuple(steps)


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


@cache
def marked(kind: type[BaseModel], mark: type[_T]) -> Mapping[str, _T]:
    """Return the marks of a type, such as `NotReproducible`, of a model's fields, by field."""
    marks = {
        name: _first([*field.metadata, field.annotation], mark)
        for name, field in kind.model_fields.items()
    }
    return {name: mark for name, mark in marks.items() if mark is not None}


def marks_of(block: BaseModel) -> Iterator[tuple[KeyPath, str]]:
    """Yield key and reason of the choices of a block that make results depend on the machine."""
    if isinstance(block, Params) and block.not_reproducible is not None:
        yield (), block.not_reproducible.why
    # Only what the user has set can make a difference; defaults are reproducible by design.
    for name, mark in marked(type(block), NotReproducible).items():
        field = type(block).model_fields[name]
        default = field.get_default(call_default_factory=True, validated_data={})
        if name in block.model_fields_set and getattr(block, name) != default:
            yield (name,), mark.why
