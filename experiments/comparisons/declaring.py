"""Reading what a comparison declares, with all that is wrong with it at line and column."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field

from hpcsched.parameters import Params
from hpcsched.studies import cell

Label = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9+-]*$")]
"""The name of something declared, which can be a folder's or a file's."""

Declaration = TypeVar("Declaration", bound=Params)


def check_unique(what: str, names: Iterable[str]) -> None:
    """Raise ValueError where a name is there twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{what} {name!r} is declared twice")
        seen.add(name)


def check_known(what: str, known: Iterable[str], names: Iterable[str]) -> None:
    """Raise ValueError where a name is not among those known."""
    there = list(known)
    for name in names:
        if name not in there:
            raise ValueError(f"no {what} {name!r} is declared; there are: {', '.join(there)}")


def read_declaration(path: Path, model: type[Declaration]) -> Declaration:
    """Return what a YAML file declares.

    Raises InputError with all that is wrong with it, and where.
    """
    return cell.read_declaration(model, path)[0]
