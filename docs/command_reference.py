"""The commands, with their arguments and options, as the reference of commands has them."""

import inspect
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from enum import Enum
from pathlib import Path
from types import MappingProxyType, NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import typer
from paragraphs import paragraphs

from hpcsched import cli

WORDS = MappingProxyType({Path: "path", str: "text", int: "whole number", float: "number"})
"""What an option takes, by its type."""


MANY = 4
"""Number of commands from which on an option is described once for all of them."""


def command_sections() -> str:
    """Return a section for every command, and first one for the options of many commands."""
    found = dict(commands())
    lines = {name: _options(command) for name, command in found.items()}
    counts = Counter(line for of in lines.values() for line in of.values())
    usual = {line.split("`")[1]: line for line, _ in reversed(counts.most_common())}
    common = [line for line in usual.values() if counts[line] >= MANY]
    parts = ["## Options of many commands", "\n".join(sorted(common))]
    parts += [section(name, found[name], lines[name], common) for name in found]
    return "\n\n".join(parts)


def commands() -> Iterator[tuple[str, Any]]:
    """Yield every command with its whole name, those of groups included."""

    def within(name: str, command: Any) -> Iterator[tuple[str, Any]]:
        below = getattr(command, "commands", None)
        if below is None:
            yield name, command
        else:
            for inner, one in below.items():
                yield from within(f"{name} {inner}", one)

    yield from within("hpcsched", typer.main.get_command(cli.app))


def command_list() -> str:
    """Return what each command is for, by the panels of the help."""
    top = typer.main.get_command(cli.app).commands
    found: dict[str, list[str]] = {panel: [f"{panel}:", ""] for panel in cli.PANELS}
    for name, command in commands():
        summary = (command.help or "").partition("\n\n")[0]
        panel = top[name.split()[1]].rich_help_panel
        found.setdefault(panel, [f"{panel}:", ""]).append(f"- `{name}`: {summary}")
    return "\n\n".join("\n".join(lines) for lines in found.values() if len(lines) > 2)


def section(name: str, command: Any, options: Mapping[str, str], common: Container[str]) -> str:
    """Return what a command does, its arguments in order, and its options but common ones."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    shared = [f"`{option}`" for option, line in options.items() if line in common]
    parts = [f"## {name}", paragraphs(command.help or "")]
    lines = [f"- `{_shown(a)}`: {a.help or ''}" for a in arguments]
    lines += [line for line in options.values() if line not in common]
    if shared:
        lines.append(f"- Also {', '.join(shared)}.")
    return "\n\n".join([*parts, "\n".join(lines)]).rstrip()


def _options(command: Any) -> dict[str, str]:
    """Return a line for each option by its name."""
    # A command with groups of options has a signature of its own, which tells each of them.
    flat = inspect.unwrap(command.callback, stop=lambda f: hasattr(f, "__signature__"))
    hints = get_type_hints(flat)
    return {
        option.opts[0]: _line(option, hints[option.name])
        for option in command.params
        if option.param_type_name == "option" and not (option.name == "help" or option.hidden)
    }


def _line(option: Any, hint: Any) -> str:
    names, value, default = _names(option), _value(option, hint), _default(option)
    told = ", ".join(text for text in (value, default and f"default {default}") if text)
    told = told.replace("default required", "required")
    return f"- {names}{f' ({told})' if told else ''}: {option.help or ''}"


def _shown(argument: Any) -> str:
    name = (argument.metavar or argument.name.upper()) + ("..." if argument.nargs == -1 else "")
    return name if argument.required else f"[{name}]"


def _names(option: Any) -> str:
    names = [*option.opts, *option.secondary_opts]
    return ", ".join(f"`{name}`" for name in names)


def _value(option: Any, hint: Any) -> str:
    """Say what an option takes, given the type of the parameter; nothing if it is a switch."""
    if option.is_flag:
        return ""
    kinds = [hint] if get_origin(hint) is Literal else get_args(hint) or (hint,)
    kind = next(kind for kind in kinds if kind is not NoneType)
    if get_origin(kind) is list:
        (kind,) = get_args(kind)
    if get_origin(kind) is Literal:
        text = ", ".join(f"`{choice}`" for choice in get_args(kind))
    elif isinstance(kind, type) and issubclass(kind, Enum):
        text = ", ".join(f"`{choice.value}`" for choice in kind)
    else:
        text = f"`{option.metavar}`" if option.metavar else WORDS[kind]
    return text


def _default(option: Any) -> str:
    if option.required:
        return "required"
    default = option.default
    if option.is_flag or default is None or default == []:
        return ""
    return f"`{getattr(default, 'value', default)}`"
