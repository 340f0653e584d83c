"""Errors that a user can act on: one line each, with the place, and no traceback."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Place:
    """Position in a file; lines and columns count from 1, and are None if unknown."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Finding:
    """An error about an input, or a warning about a legal but suspicious one.

    Attributes
    ----------
    rule
        Short stable name, such as `unknown-key`.
    message
        Expected and found value.
    place
        Position in the file, if known.
    key
        Path inside the file, such as `system.groups[0].count`.
    severity
        `error` or `warning`.
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
    """Base of every error that ends a command with a message instead of a traceback."""


class InputError(HpcschedError):
    """Unusable input: a scenario, a trace, a run directory. Exit code 1."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        self.findings: Sequence[Finding] = (
            (findings,) if isinstance(findings, Finding) else tuple(findings)
        )
        super().__init__("\n".join(str(finding) for finding in self.findings))


class PluginError(HpcschedError):
    """A plugin that is broken, incompatible, or clashes with another. Exit code 1."""


class DecisionError(HpcschedError):
    """A decision of a dispatcher that the system cannot carry out. Exit code 3."""
