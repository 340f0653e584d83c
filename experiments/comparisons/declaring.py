"""Reading what a comparison declares, with all that is wrong with it at line and column."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.parameters import Params
from hpcsched.scenario.document import parse_document, read_text
from hpcsched.scenario.faults import faults_of
from hpcsched.scenario.key_path import show_key_path
from hpcsched.scenario.positions import Positions, by_position

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
    document = parse_document(read_text(path))
    positions = Positions.of(str(path), document)
    findings = [
        Finding(p.rule, p.message, Place(str(path), *p.mark), show_key_path(p.key))
        for p in document.problems
    ]
    known_keys: dict[int, tuple[str, ...]] = {}
    context = {"folder": path.parent, "environment": os.environ, "known_keys": known_keys}
    if not findings:
        try:
            return model.model_validate(document.value, context=context)
        except ValidationError as error:
            findings = [
                Finding(
                    fault.rule,
                    fault.message,
                    positions.place(fault.at, on_key=fault.on_key),
                    show_key_path(fault.key),
                )
                for fault in faults_of(error, document.value, known_keys)
            ]
    raise InputError(by_position(findings, str(path)))
