"""The commands, with their arguments and options, as the reference of commands has them."""

import inspect
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, get_args, get_type_hints

import typer
from markdown_tables import paragraphs, table

from hpcsched import cli

WORDS = MappingProxyType({Path: "path", str: "text", int: "whole number", float: "number"})
"""What an option takes, by its type."""


def command_sections() -> str:
    """Return a section for every command."""
    return "\n\n".join(section(name, command) for name, command in commands())


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name, those of groups included."""
    for name, command in typer.main.get_command(cli.app).commands.items():
        below = getattr(command, "commands", None)
        if below is None:
            yield f"hpcsched {name}", command
        else:
            yield from ((f"hpcsched {name} {inner}", within) for inner, within in below.items())


def section(name: str, command: Any) -> str:
    """Return what there is to say of a command: its usage, what it does, and its parameters."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [
        p
        for p in command.params
        if p.param_type_name == "option" and not (p.name == "help" or p.hidden)
    ]
    words = [
        name,
        *(_shown(argument) for argument in arguments),
        *(["[OPTION]…"] if options else []),
    ]
    parts = [f"## {name}", f"`{' '.join(words)}`", paragraphs(command.help or "")]
    if arguments:
        rows = ((f"`{_metavar(a)}`", a.help or "") for a in arguments)
        parts.append(table(("argument", "is"), rows))
    if options:
        # A command with groups of options has a signature of its own, which tells each of them.
        flat = inspect.unwrap(command.callback, stop=lambda f: hasattr(f, "__signature__"))
        hints = get_type_hints(flat)
        rows = ((_names(o), _value(o, hints[o.name]), _default(o), o.help or "") for o in options)
        parts.append(table(("option", "value", "default", "meaning"), rows))
    return "\n\n".join(parts)


def _metavar(argument: Any) -> str:
    return argument.metavar or argument.name.upper()


def _shown(argument: Any) -> str:
    name = _metavar(argument) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    names = [*option.opts, *option.secondary_opts]
    return ", ".join(f"`{name}`" for name in names)


def _value(option: Any, hint: Any) -> str:
    """Say what an option takes, given the type of the parameter; nothing if it is a switch."""
    if option.is_flag:
        return ""
    kinds = [kind for kind in get_args(hint) or (hint,) if kind is not NoneType]
    inner = get_args(kinds[0])
    kind = inner[0] if inner else kinds[0]
    if issubclass(kind, Enum):
        text = ", ".join(f"`{choice.value}`" for choice in kind)
    else:
        text = f"`{option.metavar}`" if option.metavar else WORDS[kind]
    return f"{text}; can be repeated" if option.multiple else text


def _default(option: Any) -> str:
    if option.required:
        return "required"
    default = option.default
    if option.is_flag or default is None or default == []:
        return ""
    return f"`{getattr(default, 'value', default)}`"
