"""What an audit has checked and found."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SHOWN = 10
"""How many violations of one check are spelt out; the rest are counted."""

TOLERANCE = 1e-9
"""The relative difference up to which figures agree."""


@dataclass(slots=True)
class Check:
    """One check: what holds if it is fine, how many things it looked at, and what it found.

    `violations` spells out the first few of `count`; `notes` says what could not be checked.
    """

    claim: str
    looked_at: int = 0
    count: int = 0
    violations: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def found(self, message: str) -> None:
        """Count a violation, and keep its message while there are few."""
        self.count += 1
        if len(self.violations) < SHOWN:
            self.violations.append(message)

    def found_many(self, count: int, messages: Iterable[str]) -> None:
        """Count violations; only as many messages are drawn as are kept."""
        self.count += count
        for message, _ in zip(messages, range(SHOWN - len(self.violations)), strict=False):
            self.violations.append(message)

    def expect(self, what: str, expected: object, found: object) -> None:
        """Count a violation unless both are equal."""
        self.looked_at += 1
        if expected != found:
            self.found(f"{what}: expected {expected}, found {found}")


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All checks of an audit."""

    checks: tuple[Check, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not any(check.count for check in self.checks)


def compare(check: Check, what: str, expected: float | None, found: Any) -> None:
    """Count a violation unless both are numbers within the tolerance, or both None."""
    check.looked_at += 1
    if expected is None or not isinstance(found, int | float):
        same = expected is found
    else:
        same = math.isclose(expected, found, rel_tol=TOLERANCE)
    if not same:
        check.found(f"{what}: expected {expected!r}, found {found!r}")
