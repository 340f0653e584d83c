"""Rows of dumps of `sacct`, by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched_slurm.logs.sacct_rows import SacctRows


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
    assert rows.row("7|OK|") == {"jobid": "7", "state": "OK"}
    with pytest.raises(ValueError, match=r"expected '\|' at the end, as the header has"):
        rows.row("7|OK")


def test_a_repeated_header_is_no_row(tmp_path: Path) -> None:
    """Dumps that were put together have it in between; line numbers still count it."""
    rows = rows_of(tmp_path, "JobID|State", "7|OK", "JobID|State", "8|OK")
    assert [number for number, _ in rows.records()] == [2, 4]


def test_remarks_above_the_header(tmp_path: Path) -> None:
    """They are no rows; below it, and after a row, such a line is one."""
    rows = rows_of(tmp_path, "# Jobs of March", "cut by hand", "JobID|State", "7|OK", "# a remark")
    assert [number for number, _ in rows.records()] == [4, 5]
    with pytest.raises(ValueError, match="expected 2 columns"):
        rows.row("# a remark")
    headless = rows_of(tmp_path, "# Jobs of March", "7|OK", "JobID|State", "8|OK")
    assert headless.header_line == 1
    assert "jobid" not in headless.columns


def test_a_name_in_the_last_column_may_have_separators(tmp_path: Path) -> None:
    """In any other place it is one column too many."""
    rows = rows_of(tmp_path, "JobID|JobName", "7|a|b")
    assert rows.row("7|a|b") == {"jobid": "7", "jobname": "a|b"}
    rows = rows_of(tmp_path, "JobName|JobID", "a|b|7")
    with pytest.raises(ValueError, match=r"expected 2 columns with .* found 3"):
        rows.row("a|b|7")


def joined(tmp_path: Path, header: str, *lines: str) -> list[tuple[int, str]]:
    """Return the rows of a dump, with the numbers of their first lines."""
    return [(n, row.strip()) for n, row in rows_of(tmp_path, header, *lines).records()]


def test_rows_that_a_name_broke(tmp_path: Path) -> None:
    """Lines are joined until the number of columns fits, but not with a row of its own."""
    header = "JobID|JobName|State"
    broken = ("7|a", "b", "", "c|OK", "8|d|OK")
    assert joined(tmp_path, header, *broken) == [(2, "7|a b c|OK"), (6, "8|d|OK")]
    assert joined(tmp_path, f"{header}|", "7|a\r", "b|OK|", "8|d|OK|") == [
        (2, "7|a b|OK|"),
        (4, "8|d|OK|"),
    ]
    # A row that was cut stays alone, and so does a line that would be too much.
    assert joined(tmp_path, header, "7|a", "8|d|OK", "9_1.batch|", "9", "b|c|d") == [
        (2, "7|a"), (3, "8|d|OK"), (4, "9_1.batch|"), (5, "9"), (6, "b|c|d"),
    ]  # fmt: skip
    assert joined(tmp_path, "JobID|State|JobName", "7|OK|a", "b", "8|OK|d|e", "9") == [
        (2, "7|OK|a b"), (4, "8|OK|d|e"), (5, "9"),
    ]  # fmt: skip


def test_no_header(tmp_path: Path) -> None:
    """An empty file names the columns that are expected, and its first line."""
    with pytest.raises(InputError) as caught:
        rows_of(tmp_path)
    (finding,) = caught.value.findings
    assert finding.rule == "missing-columns"
    assert "such as JobID|Submit|Start|End first, found nothing" in finding.message
    assert (finding.place.file, finding.place.line) == (str(tmp_path / "dump.txt"), 1)
