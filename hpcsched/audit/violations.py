"""Results of an audit: checks, violations and notes."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from hpcsched.system.system import IntArray

SHOWN = 10
"""Number of violations of one check that are spelt out; the rest are counted."""

TOLERANCE = 1e-9
"""Relative difference up to which figures agree."""


@dataclass(slots=True)
class Check:
    """One check of an audit.

    Attributes
    ----------
    claim
        Statement that holds if nothing is found.
    notes
        Parts that could not be checked.

    Examples
    --------
    >>> check = Check("rounds are numbered")
    >>> check.expect("round", 1, 2)
    >>> check.count, check.violations
    (1, ['round: expected 1, found 2'])
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

    def found_at(self, places: IntArray, message: Callable[[int], str]) -> None:
        """Count a violation at each place; only as many messages are made as are kept."""
        self.count += len(places)
        kept = places[: max(SHOWN - len(self.violations), 0)]
        self.violations += map(message, kept.tolist())

    def lines(self) -> Iterator[str]:
        """Yield the outcome, then the violations and notes.

        Examples
        --------
        >>> list(Check("rounds are numbered", 3).lines())
        ['ok: rounds are numbered (3 looked at)']
        """
        outcome = "ok" if not self.count else f"{self.count} violations"
        if self.count == 1:
            outcome = "1 violation"
        yield f"{outcome}: {self.claim} ({self.looked_at} looked at)"
        yield from (f"  {violation}" for violation in self.violations)
        if self.count > len(self.violations):
            yield f"  … and {self.count - len(self.violations)} more"
        yield from (f"  note: {note}" for note in self.notes)

    def expect(self, what: str, expected: object, found: object) -> None:
        """Count a violation unless `expected` equals `found`."""
        self.looked_at += 1
        if expected != found:
            self.found(f"{what}: expected {expected}, found {found}")


@dataclass(frozen=True, slots=True)
class AuditReport:
    """All checks of an audit."""

    checks: tuple[Check, ...]

    def __repr__(self) -> str:
        """Return the outcome and the number of checks, on one line."""
        bad = sum(1 for check in self.checks if check.count)
        outcome = f"not ok: violations in {bad} of" if bad else "ok:"
        return f"AuditReport({outcome} {len(self.checks)} checks)"

    @property
    def ok(self) -> bool:
        """True if no check found a violation."""
        return not any(check.count for check in self.checks)

    def lines(self) -> Iterator[str]:
        """Yield the lines of all checks."""
        return (line for check in self.checks for line in check.lines())


def compare(check: Check, what: str, expected: float | None, found: Any) -> None:
    """Count a violation unless two figures agree within the tolerance, or both are None."""
    check.looked_at += 1
    if expected is None or not isinstance(found, int | float):
        same = expected is found
    else:
        same = math.isclose(expected, found, rel_tol=TOLERANCE)
    if not same:
        check.found(f"{what}: expected {expected!r}, found {found!r}")
