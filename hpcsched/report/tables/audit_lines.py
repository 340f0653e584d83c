"""The outcome of an audit as lines of text."""

from collections.abc import Iterator

from hpcsched.audit.violations import AuditReport


def audit_lines(report: AuditReport) -> Iterator[str]:
    """Yield the lines of all checks, then the verdict `ok` or `not ok`."""
    yield from check_lines(report)
    yield "ok" if report.ok else "not ok"


def check_lines(report: AuditReport) -> Iterator[str]:
    """Yield a line for each check, followed by its violations and notes.

    Examples
    --------
    >>> from hpcsched.audit.violations import AuditReport, Check
    >>> list(check_lines(AuditReport((Check("rounds are numbered", 3),))))
    ['ok: rounds are numbered (3 looked at)']
    """
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
