"""Results of an audit: rules, checks, violations and notes."""

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]

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

    def found_at(self, rows: BoolArray, message: str, *columns: Any) -> None:
        """Count a violation in each row of a mask; only as many messages are made as are kept.

        Parameters
        ----------
        message
            Format string, filled with the row's value of each of the `columns`: an array, a
            function of the row, or one value for all.
        """
        places = np.flatnonzero(rows)
        self.count += len(places)
        for k in places[: max(SHOWN - len(self.violations), 0)].tolist():
            self.violations.append(message.format(*(_cell(column, k) for column in columns)))

    def differ(self, what: str, expected: Any, found: Any, *columns: Any) -> None:
        """Count a violation in each row in which two arrays differ.

        Parameters
        ----------
        what
            Names row and column, filled with `columns` as in `found_at`.
        """
        message = f"{what}: expected {{}}, found {{}}"
        self.found_at(expected != found, message, *columns, expected, found)

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

    def compare(self, what: str, expected: float | None, found: Any) -> None:
        """Count a violation unless two figures agree within the tolerance, or both are None."""
        self.looked_at += 1
        if expected is None or not isinstance(found, int | float):
            same = expected is found
        else:
            same = math.isclose(expected, found, rel_tol=TOLERANCE)
        if not same:
            self.found(f"{what}: expected {expected!r}, found {found!r}")

    def compare_all(
        self, where: str, expected: Mapping[str, float | None], found: Mapping[str, Any]
    ) -> None:
        """Compare figures by name."""
        for name, value in expected.items():
            self.compare(f"{where}.{name}", value, found.get(name))


def _cell(column: Any, k: int) -> Any:
    """Return the value of a column in row `k`."""
    if callable(column):
        return column(k)
    value = column[k] if isinstance(column, np.ndarray) else column
    return value.item() if isinstance(value, np.generic) else value


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


Seen_contra = TypeVar("Seen_contra", contravariant=True)


@dataclass(frozen=True, slots=True)
class Rule(Generic[Seen_contra]):
    """Rule of the audit: a function of the data that returns its check, or None."""

    claim: str
    applies: Callable[[Any], object]
    work: Callable[[Check, Seen_contra], None]

    def __call__(self, at: Seen_contra) -> Check | None:
        """Return the check of a run; None if the rule does not apply to it."""
        if not self.applies(at):
            return None
        check = Check(self.claim)
        self.work(check, at)
        return check


def rule(
    applies: Callable[[Any], object] = lambda _: True, claim: str = ""
) -> Callable[[Callable[[Check, Seen_contra], None]], Rule[Seen_contra]]:
    """Return a decorator that makes a function a rule, which `applies` to some runs.

    The claim is what follows "Check that" in the function's docstring, unless it is given.
    """

    def made(work: Callable[[Check, Seen_contra], None]) -> Rule[Seen_contra]:
        first = (work.__doc__ or work.__name__).partition("\n")[0]
        told = first.removeprefix("Check that ").removesuffix(".")
        return Rule(claim or told, applies, work)

    return made
