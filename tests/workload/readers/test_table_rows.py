"""Rows of CSV files, by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.policies import UnusableError
from hpcsched.workload.readers.table_rows import CsvRows, open_rows


def csv_of(tmp_path: Path, text: str) -> Path:
    """Return the path of a CSV file."""
    path = tmp_path / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_selected_columns_of_csv(tmp_path: Path) -> None:
    """In the selected order; quotes hide a separator."""
    rows = open_rows(csv_of(tmp_path, 'id; time ;name\n7;100;"a;b"\n'), ";")
    assert rows.names == ["id", "time", "name"]
    rows.select(["name", "id"])
    ((number, record),) = rows.records()
    assert number == 2
    assert rows.values(record) == ["a;b", "7"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"1,2,3", "expected 2 values, found 3"),
        (b'"1,2', "expected values of CSV: "),
        (b"a\0,1", "expected text, found a zero byte"),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, line: bytes, message: str) -> None:
    """The policy for malformed records decides on them."""
    rows = CsvRows(csv_of(tmp_path, "a,b\n"), ",")
    with pytest.raises(UnusableError, match=message) as caught:
        rows.values(line)
    assert caught.value.reason == "malformed"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected a line that names the columns, found nothing"),
        ("\na,a\n", 2, "two columns are called 'a'"),
    ],
)
def test_headers_that_are_none(tmp_path: Path, text: str, line: int, message: str) -> None:
    """The message has the line."""
    with pytest.raises(InputError) as caught:
        open_rows(csv_of(tmp_path, text), ",")
    (finding,) = caught.value.findings
    assert (finding.message, finding.place.line) == (message, line)
