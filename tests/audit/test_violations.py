"""What a check of the audit counts, and how much of it is spelt out."""

import numpy as np

from hpcsched.audit.violations import SHOWN, AuditReport, Check


def test_each_is_counted_and_ten_are_spelt_out() -> None:
    """3 single violations and 20 at once are 23, of which the first 10 have their messages."""
    check = Check("all is well")
    for k in range(3):
        check.found(f"one {k}")
    check.found_at(np.arange(20) >= 0, "many {}", np.arange(20))
    assert SHOWN == 10
    assert check.count == 23
    assert check.violations == [*(f"one {k}" for k in range(3)), *(f"many {k}" for k in range(7))]
    assert not AuditReport((Check("nothing found"), check)).ok


def test_more_are_counted_once_ten_are_spelt_out() -> None:
    """Messages beyond the tenth are not drawn; 12 and 5 and 1 violations are 18."""
    check = Check("all is well")
    check.found_at(np.arange(15) < 12, "first {}", lambda k: k)
    check.found_at(np.arange(5) >= 0, "later {}", np.arange(5))
    check.found("last")
    assert check.count == 18
    assert check.violations == [f"first {k}" for k in range(10)]


def test_what_is_expected_counts_as_looked_at() -> None:
    """Two comparisons, one of which differs."""
    check = Check("all is well")
    check.expect("jobs", 3, 3)
    check.expect("rounds", 4, 5)
    assert (check.looked_at, check.count) == (2, 1)
    assert check.violations == ["rounds: expected 4, found 5"]
    assert AuditReport((Check("nothing found"),)).ok


def checked(*messages: str) -> Check:
    """Return a check of 20 items that found these violations."""
    check = Check("capacity is kept", 20)
    for message in messages:
        check.found(message)
    return check


def test_the_lines_of_a_clean_audit() -> None:
    """Each check has a line; what could not be checked stands below it."""
    check = Check("waits are right", 3, notes=["job 2 has no start"])
    assert list(AuditReport((checked(), check)).lines()) == [
        "ok: capacity is kept (20 looked at)",
        "ok: waits are right (3 looked at)",
        "  note: job 2 has no start",
    ]


def test_the_lines_of_one_violation() -> None:
    """The other check stays ok."""
    assert list(AuditReport((checked("node 3 at 7 s"), Check("b"))).lines()) == [
        "1 violation: capacity is kept (20 looked at)",
        "  node 3 at 7 s",
        "ok: b (0 looked at)",
    ]


def test_many_violations_are_counted() -> None:
    """Of 13 violations ten are spelt out."""
    lines = list(AuditReport((checked(*(f"job {k}" for k in range(SHOWN + 3))),)).lines())
    assert lines[0] == "13 violations: capacity is kept (20 looked at)"
    assert lines[1:11] == [f"  job {k}" for k in range(10)]
    assert lines[11:] == ["  … and 3 more"]
