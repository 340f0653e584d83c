"""The outcome of an audit in lines."""

from hpcsched.audit.violations import SHOWN, AuditReport, Check
from hpcsched.report.tables.audit_lines import audit_lines, check_lines


def checked(*messages: str) -> Check:
    """Return a check of 20 items that found these violations."""
    check = Check("capacity is kept", 20)
    for message in messages:
        check.found(message)
    return check


def test_a_clean_audit_ends_with_ok() -> None:
    """Each check has a line; what could not be checked stands below it."""
    check = Check("waits are right", 3, notes=["job 2 has no start"])
    assert list(audit_lines(AuditReport((checked(), check)))) == [
        "ok: capacity is kept (20 looked at)",
        "ok: waits are right (3 looked at)",
        "  note: job 2 has no start",
        "ok",
    ]


def test_one_violation_anywhere_is_not_ok() -> None:
    """The other check stays ok; the verdict of all is not."""
    assert list(audit_lines(AuditReport((checked("node 3 at 7 s"), Check("b"))))) == [
        "1 violation: capacity is kept (20 looked at)",
        "  node 3 at 7 s",
        "ok: b (0 looked at)",
        "not ok",
    ]


def test_many_violations_are_counted() -> None:
    """Of 13 violations ten are spelt out."""
    lines = list(check_lines(AuditReport((checked(*(f"job {k}" for k in range(SHOWN + 3))),))))
    assert lines[0] == "13 violations: capacity is kept (20 looked at)"
    assert lines[1:11] == [f"  job {k}" for k in range(10)]
    assert lines[11:] == ["  … and 3 more"]
