"""Rows of dumps of `sacct`, by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.accounting_logs.sacct_rows import SacctRows
from hpcsched.workload.readers.policies import UnusableError


def rows_of(tmp_path: Path, *lines: str) -> SacctRows:
    """Return the rows of a dump of these lines."""
    path = tmp_path / "dump.txt"
    path.write_text("\n".join((*lines, "")), encoding="utf-8")
    return SacctRows(path)


def test_values_by_column(tmp_path: Path) -> None:
    """Names of columns in lower case, values without spaces around them."""
    rows = rows_of(tmp_path, "JobID|Submit|State", "7| 100 |OK")
    ((number, line),) = rows.records()
    assert number == 2
    assert rows.row(line) == {"jobid": "7", "submit": "100", "state": "OK"}
    assert rows.columns == {"jobid", "submit", "state"}


def test_a_separator_at_the_end(tmp_path: Path) -> None:
    """`--parsable` writes one; a row without is malformed."""
    rows = rows_of(tmp_path, "JobID|State|", "7|OK|")
    assert rows.row(b"7|OK|") == {"jobid": "7", "state": "OK"}
    with pytest.raises(UnusableError, match=r"expected '\|' at the end, as the header has"):
        rows.row(b"7|OK")


def test_a_repeated_header_is_no_row(tmp_path: Path) -> None:
    """Dumps that were put together have it in between; line numbers still count it."""
    rows = rows_of(tmp_path, "JobID|State", "7|OK", "JobID|State", "8|OK")
    assert [number for number, _ in rows.records()] == [2, 4]


def test_a_name_in_the_last_column_may_have_separators(tmp_path: Path) -> None:
    """In any other place it is one column too many."""
    rows = rows_of(tmp_path, "JobID|JobName", "7|a|b")
    assert rows.row(b"7|a|b") == {"jobid": "7", "jobname": "a|b"}
    rows = rows_of(tmp_path, "JobName|JobID", "a|b|7")
    with pytest.raises(UnusableError, match=r"expected 2 columns with .* found 3"):
        rows.row(b"a|b|7")


def test_no_header(tmp_path: Path) -> None:
    """An empty file names the columns that are expected, and its first line."""
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path)
    (finding,) = caught.value.findings
    assert finding.rule == "missing-columns"
    assert "such as JobID|Submit|Start|End first, found nothing" in finding.message
    assert (finding.place.file, finding.place.line) == (str(tmp_path / "dump.txt"), 1)
