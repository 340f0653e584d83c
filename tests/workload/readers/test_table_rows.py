"""Rows of CSV files, by hand."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.table_rows import CsvRows, open_rows


def csv_of(tmp_path: Path, text: str) -> Path:
    """Return the path of a CSV file."""
    path = tmp_path / "jobs.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_of_csv(tmp_path: Path) -> None:
    """By name; quotes hide a separator."""
    rows = open_rows(csv_of(tmp_path, 'id; time ;name\n7;100;"a;b"\n'), ";")
    assert rows.names == ["id", "time", "name"]
    ((number, record),) = rows.records()
    assert number == 2
    assert rows.values(record) == {"id": "7", "time": "100", "name": "a;b"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1,2,3", "expected 2 values, found 3"),
        ('"1,2', "expected values of CSV: "),
    ],
)
def test_lines_that_are_no_rows(tmp_path: Path, line: str, message: str) -> None:
    """The policy for malformed records decides on them."""
    rows = CsvRows(csv_of(tmp_path, "a,b\n"), ",")
    with pytest.raises(ValueError, match=message):
        rows.values(line)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("", 1, "expected a line that names the columns, found nothing"),
        ("\na,a\n", None, "two columns are called 'a'"),
    ],
)
def test_headers_that_are_none(tmp_path: Path, text: str, line: int, message: str) -> None:
    """The message has the line."""
    with pytest.raises(InputError) as caught:
        open_rows(csv_of(tmp_path, text), ",")
    (finding,) = caught.value.findings
    assert (finding.message, finding.place.line) == (message, line)
