"""Writes what an audit has checked and found."""

from collections.abc import Iterator

from hpcsched.audit.violations import AuditReport


def audit_lines(report: AuditReport) -> Iterator[str]:
    """Yield the lines of all checks, and then the verdict."""
    yield from check_lines(report)
    yield "ok" if report.ok else "not ok"


def check_lines(report: AuditReport) -> Iterator[str]:
    """Yield a line for each check, and below it one for each violation and note."""
    for check in report.checks:
        outcome = "ok" if not check.count else f"{check.count} violations"
        if check.count == 1:
            outcome = "1 violation"
        yield f"{outcome}: {check.claim} ({check.looked_at} looked at)"
        for violation in check.violations:
            yield f"  {violation}"
        if check.count > len(check.violations):
            yield f"  … and {check.count - len(check.violations)} more"
        for note in check.notes:
            yield f"  note: {note}"
