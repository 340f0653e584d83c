"""Groups of options: the fields of a dataclass, which a command takes as one argument."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import get_type_hints

_Command = Callable[..., None]


def with_option_groups(command: _Command) -> _Command:
    """Return a command with an option for each field of its groups.

    Parameters
    ----------
    command
        Function with a keyword-only parameter for each group. The group is a dataclass, its fields
        are annotated as typer's parameters are, and each has a default.

    Returns
    -------
    Callable
        The command with the fields as keyword-only parameters, at the places of their groups.

    Examples
    --------
    >>> import typer
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass(frozen=True)
    ... class Size:
    ...     nodes: Annotated[int, typer.Option(help="Number of nodes.")] = 1
    ...     cores: Annotated[int, typer.Option(help="Cores of each.")] = 8
    >>> @with_option_groups
    ... def show(name: str, *, size: Size) -> None:
    ...     print(name, size.nodes * size.cores)
    >>> show("small", nodes=4)
    small 32
    """
    hints = get_type_hints(command, include_extras=True)
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and is_dataclass(hint)
    }

    def parameters() -> Iterator[inspect.Parameter]:
        for parameter in inspect.signature(command).parameters.values():
            if parameter.name in groups:
                yield from _of_group(groups[parameter.name])
            else:
                yield parameter.replace(annotation=hints[parameter.name])

    @wraps(command)
    def flat(*args: object, **options: object) -> None:
        made = {
            name: group(**{f.name: options.pop(f.name) for f in fields(group) if f.name in options})
            for name, group in groups.items()
        }
        command(*args, **options, **made)

    seen = list(parameters())
    # Typer reads the annotations and the signature, each by itself.
    flat.__annotations__ = {one.name: one.annotation for one in seen} | {"return": None}
    flat.__signature__ = inspect.Signature(seen)  # type: ignore[attr-defined]
    return flat


def _of_group(group: type) -> Iterator[inspect.Parameter]:
    """Yield a keyword-only parameter for each field of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        default = inspect.Parameter.empty if field.default is MISSING else field.default
        yield inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=default,
            annotation=hints[field.name],
        )
