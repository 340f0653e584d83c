"""Errors that a user can act on: one line each, with the place, and never a traceback."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Place:
    """A spot in a file; lines and columns count from 1, and are None where not known."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to say about an input: an error, or a warning about what is legal and suspicious.

    `rule` is a short stable name such as `unknown-key`; `key` is the path inside the file, such as
    `system.groups[0].count`.
    """

    rule: str
    message: str
    place: Place | None = None
    key: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        key = f"{self.key}: " if self.key else ""
        return f"{where}{self.severity}: {key}{self.message} [{self.rule}]"


class HpcschedError(Exception):
    """The base of every error that ends a command with a message instead of a traceback."""


class InputError(HpcschedError):
    """What the user gave cannot be used: a scenario, a trace, a run directory. Exit code 1."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings: Sequence[Finding] = (
            (findings,) if isinstance(findings, Finding) else tuple(findings)
        )
        super().__init__("\n".join(str(finding) for finding in self.findings))


class PluginError(HpcschedError):
    """A plugin is broken, incompatible or clashes with another: names whose it is. Exit code 1."""


class DecisionError(HpcschedError):
    """A dispatcher answered with a decision that the system cannot carry out. Exit code 3."""
