"""Errors that a user can act on: one line each, with the place, and no traceback."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Place:
    """Position in a file, for messages; lines and columns count from 1, None if unknown."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, *(str(n) for n in (self.line, self.column) if n is not None)]
        return ":".join(parts)


@dataclass(frozen=True, slots=True)
class Finding:
    """Error in an input, or warning about a legal but suspicious input.

    Attributes
    ----------
    rule
        Short stable name of the check, such as `unknown-key`.
    message
        One sentence: expected value, found value, remedy.
    key
        Path inside the file, such as `system.groups[0].count`; empty if none.
    """

    rule: str
    message: str
    place: Place | None = None
    key: str = ""
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        # The form of compilers, which editors and CI turn into links.
        where = f"{self.place}: " if self.place else ""
        key = f"{self.key}: " if self.key else ""
        return f"{where}{self.severity}: {key}{self.message} [{self.rule}]"


FORCE = "--force or force=True"
"""What lets existing files be replaced, on the command line and in Python."""


class HpcschedError(Exception):
    """Base class of errors that end a command with a message instead of a traceback."""


class InputError(HpcschedError):
    """Unusable input: a scenario, a trace or a run directory. Exit code 1."""

    def __init__(self, findings: Finding | Iterable[Finding]) -> None:
        # A tuple: a generator of findings would be empty when the message has been made.
        self.findings: Sequence[Finding] = (
            (findings,) if isinstance(findings, Finding) else tuple(findings)
        )
        super().__init__("\n".join(str(finding) for finding in self.findings))


class PluginError(HpcschedError):
    """Fault of a plugin: broken, incompatible or in conflict with another. Exit code 1.

    The message names the plugin.
    """


class DecisionError(HpcschedError):
    """Decision of a dispatcher that the system cannot carry out. Exit code 3."""
