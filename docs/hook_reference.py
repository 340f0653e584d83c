"""The plugin hooks, and what their factories return, as the reference of hooks has them."""

import inspect
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from importlib import import_module
from types import NoneType
from typing import Any, Union, get_args, get_origin

from paragraphs import paragraphs

from hpcsched.plugins import spec
from hpcsched.registration import Plugin

DOTTED = re.compile(r"`(hpcsched\.[a-z_.]+\.[A-Z]\w*)`")
MODULES = re.compile(r"\b(?:\w+\.)+")
FORWARD = re.compile(r"ForwardRef\('(\w+)'\)")
SECTION = re.compile(r"^(Attributes|Parameters|Returns|Raises|Examples|Notes)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(?P<name>\S.*)\n(?P<text>(?:    .*\n?|\n(?=    ))+)", re.MULTILINE)
SHORT = {
    f"numpy.ndarray[tuple[{anything}, ...], numpy.dtype[numpy.{dtype}]]": name
    for anything in ("Any", "typing.Any")
    for dtype, name in (("float64", "FloatArray"), ("bool", "BoolArray"))
}
"""Types that have a name of their own in the code."""


def hook_sections() -> str:
    """Return a section for every hook."""
    return "\n\n".join(map(section, hooks()))


def plugin_fields() -> str:
    """Return the fields of a plugin."""
    fields = inspect.signature(Plugin).parameters
    return "\n".join(
        field_line([name], [plain(field.annotation)], "") for name, field in fields.items()
    )


def hooks() -> Iterator[Any]:
    """Yield the hook specifications, in the order of the module."""
    for name, value in vars(spec).items():
        if name.startswith("hpcsched_") and hasattr(value, "hpcsched_spec"):
            yield value


def section(hook: Any) -> str:
    """Return what a hook is for, and the methods of the protocols that it speaks of."""
    text = paragraphs(inspect.getdoc(hook) or "")
    parts = [f"## {hook.__name__}", text]
    for dotted in dict.fromkeys(DOTTED.findall(text)):
        parts.append(f"**{dotted.rpartition('.')[2]}**: {_first_line(_load(dotted))}")
        parts.append("\n".join(_members(_load(dotted))))
    return "\n\n".join(parts)


def _load(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def _members(protocol: Any) -> Iterator[str]:
    """Yield a line for each public method and property of a protocol, inherited ones included."""
    for owner in reversed(protocol.__mro__[:-1]):
        if not owner.__module__.startswith("hpcsched."):
            continue
        for name, value in vars(owner).items():
            if name.startswith("_"):
                continue
            if isinstance(value, property):
                returned = inspect.signature(value.fget).return_annotation
                yield field_line([name], [plain(returned)], _first_line(value.fget))
            elif inspect.isfunction(value):
                yield f"- `{name}{signature(value)}`: {member_text(value)}"


def field_line(names: Iterable[str], types: Iterable[str], text: str) -> str:
    """Return the line of a field or property."""
    shown = f"- `{', '.join(names)}: {', '.join(filter(None, types))}`"
    return f"{shown}: {text}" if text else shown


def member_text(function: Any) -> str:
    """Return a method's docstring in one line, with its values, their units and its errors."""
    head, sections = documented(inspect.getdoc(function) or "")
    parts = [" ".join(head.split())]
    parts += [f"`{name}`: {_sentence(text)}" for name, text in sections["Parameters"]]
    parts += [f"Returns: {_sentence(text)}" for _, text in sections["Returns"]]
    parts += [f"Raises `{name}`: {_sentence(text)}" for name, text in sections["Raises"]]
    return " ".join(parts)


def _sentence(text: str) -> str:
    return text if text.endswith(".") else f"{text}."


def documented(text: str) -> tuple[str, dict[str, list[tuple[str, str]]]]:
    """Return a docstring's text before its first section, and the entries of its sections."""
    parts = SECTION.split(text)
    sections: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for title, content in zip(parts[1::2], parts[2::2], strict=True):
        for entry in ENTRY.finditer(content):
            sections[title].append((entry["name"], " ".join(entry["text"].split())))
    return parts[0], sections


def signature(function: Any) -> str:
    """Return the parameters of a function and its result, with their types."""
    found = inspect.signature(function)
    shown, keyword_only = [], False
    for name, parameter in found.parameters.items():
        if name == "self":
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
            keyword_only = True
        star = "*" if parameter.kind is parameter.VAR_POSITIONAL else ""
        text = f"{star}{name}: {plain(parameter.annotation)}"
        if parameter.default is not parameter.empty:
            # The text of a function holds its address, which is another each time.
            default = parameter.default
            text += " = ..." if callable(default) else f" = {default!r}"
        shown.append(text)
    return f"({', '.join(shown)}) -> {plain(found.return_annotation)}"


def plain(annotation: Any) -> str:
    """Return a type as text, its names without their modules."""
    if annotation in (None, NoneType):
        return "None"
    if get_origin(annotation) is Union:  # of forward references
        return " | ".join(map(plain, get_args(annotation)))
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    unquoted = FORWARD.sub(r"\1", text).replace("'", "")
    for long, short in SHORT.items():
        unquoted = unquoted.replace(long, short)
    return MODULES.sub("", unquoted)


def _first_line(documented: Any) -> str:
    return paragraphs(inspect.getdoc(documented) or "").partition("\n")[0]
