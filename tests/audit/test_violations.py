"""What a check of the audit counts, and how much of it is spelt out."""

from hpcsched.audit.violations import SHOWN, AuditReport, Check


def test_each_is_counted_and_ten_are_spelt_out() -> None:
    """3 single violations and 20 at once are 23, of which the first 10 have their messages."""
    check = Check("all is well")
    for k in range(3):
        check.found(f"one {k}")
    check.found_many(20, (f"many {k}" for k in range(20)))
    assert SHOWN == 10
    assert check.count == 23
    assert check.violations == [*(f"one {k}" for k in range(3)), *(f"many {k}" for k in range(7))]
    assert not AuditReport((Check("nothing found"), check)).ok


def test_more_are_counted_once_ten_are_spelt_out() -> None:
    """Messages beyond the tenth are not drawn; 12 and 5 and 1 violations are 18."""
    check = Check("all is well")
    check.found_many(12, (f"first {k}" for k in range(12)))
    check.found_many(5, (f"later {k}" for k in range(5)))
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
