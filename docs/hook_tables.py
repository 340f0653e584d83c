"""The plugin hooks, and what their factories return, as the reference of hooks has them."""

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from markdown_tables import paragraphs, table

from hpcsched.plugins import spec
from hpcsched.plugins.registry import Plugin

DOTTED = re.compile(r"`(hpcsched\.[a-z_.]+\.[A-Z]\w*)`")
MODULES = re.compile(r"\b(?:\w+\.)+")


def hook_sections() -> str:
    """Return a section for every hook."""
    return "\n\n".join(map(section, hooks()))


def plugin_fields() -> str:
    """Return a table of what a plugin is made of."""
    fields = inspect.signature(Plugin).parameters
    rows = ((f"`{name}`", _annotation(field.annotation)) for name, field in fields.items())
    return table(("field", "type"), rows)


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
        rows = list(_members(_load(dotted)))
        parts += [f"`{dotted}`:", table(("member", "is"), rows)]
    return "\n\n".join(parts)


def _load(dotted: str) -> Any:
    module, _, name = dotted.rpartition(".")
    return getattr(import_module(module), name)


def _members(protocol: Any) -> Iterator[tuple[str, str]]:
    """Yield the public methods and properties of a protocol, those it inherits included."""
    for owner in reversed(protocol.__mro__[:-1]):
        if not owner.__module__.startswith("hpcsched."):
            continue
        for name, value in vars(owner).items():
            if name.startswith("_"):
                continue
            if isinstance(value, property):
                yield f"`{name}`", _first_line(value.fget)
            elif inspect.isfunction(value):
                yield f"`{name}{_signature(value)}`", _first_line(value)


def _signature(function: Any) -> str:
    names = [name for name in inspect.signature(function).parameters if name != "self"]
    return f"({', '.join(names)})"


def _first_line(documented: Any) -> str:
    return paragraphs(inspect.getdoc(documented) or "").partition("\n")[0]


def _annotation(annotation: Any) -> str:
    """Return a type as code, its names without their modules."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    unquoted = text.replace("'", "")  # forward references
    return f"`{MODULES.sub('', unquoted)}`"
