"""Counts in texts of workload managers."""

import pytest

from hpcsched.workload.readers.quantities import parse_count


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0), ("17", 17), ("08", 8), ("999999999", 999_999_999),
        ("-1", None), ("", None), ("1K", None), ("1.0", None), ("1000000000", None), ("²", None),
    ],
)  # fmt: skip
def test_counts(text: str, count: int | None) -> None:
    """Up to nine digits, and no more; an error (None) says of what."""
    if count is None:
        with pytest.raises(ValueError, match="expected a number of nodes, found"):
            parse_count(text, "nodes")
    else:
        assert parse_count(text, "nodes") == count
