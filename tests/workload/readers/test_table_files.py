"""Folders of tables, tables without names of columns, and the log of Philly, as rows."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.table import TableParams
from hpcsched.workload.readers.table_rows import (
    LIMIT,
    USED,
    EuroraRows,
    FolderRows,
    PhillyRows,
    rows_of,
    table_files,
)


def rows(path: Path, **params: Any) -> Any:
    """Return the rows of a path."""
    return rows_of(TableParams.model_validate({"path": str(path), **params}))


def test_files_of_a_folder(tmp_path: Path) -> None:
    """Files within folders too, hidden ones and others not."""
    for name in ("b.csv", "year=1/a.csv.gz", "a.parquet", ".c.csv", "LICENSE.md"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    names = ["a.parquet", "b.csv", "year=1/a.csv.gz"]
    assert table_files(tmp_path) == [tmp_path / name for name in names]
    with pytest.raises(InputError, match=r"by names that end in \.csv.*; found none"):
        table_files(tmp_path / "nothing")


def test_rows_of_a_folder(tmp_path: Path) -> None:
    """File by file, in whatever order each has the columns; numbers of rows are of the file."""
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    pq.write_table(pa.table({"y": [6], "z": [0], "x": [5]}), tmp_path / "b.parquet")
    found = rows(tmp_path)
    assert isinstance(found, FolderRows)
    assert found.fraction_read < 1
    found.wanted = ["y", "x"]
    read = [
        (found.path.name, number, [int(found.values(record)[name]) for name in "yx"])
        for number, record in found.records()
    ]
    assert read == [("a.csv", 2, [2, 1]), ("a.csv", 3, [4, 3]), ("b.parquet", 1, [6, 5])]
    assert found.fraction_read == 1
    assert [file.name for file in found.files] == ["a.csv", "b.parquet"]
    (tmp_path / "c.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match=r"c\.csv: error: expected the columns of .*no 'y'"):
        list(rows_with(tmp_path))


def rows_with(folder: Path) -> Any:
    """Yield the rows of a folder with the column y."""
    found = rows(folder)
    found.wanted = ["y"]
    yield from found.records()


def test_without_names_of_columns(tmp_path: Path) -> None:
    """The first line is a row then."""
    path = tmp_path / "jobs.csv"
    path.write_text("1,2\n3,4\n")
    found = rows(path, column_names=["x", "y"])
    found.wanted = ["y"]
    assert [found.values(record)["y"] for _, record in found.records()] == ["2", "4"]
    assert list(found.files) == [path]


def test_eurora(tmp_path: Path) -> None:
    """By its format, in the encoding of the source."""
    path = tmp_path / "log"
    path.write_text(f"{LIMIT};{USED}\n00:30;1:1:0:0:1\n")
    assert isinstance(rows(path, format="eurora"), EuroraRows)


def test_philly(tmp_path: Path) -> None:
    """By its format, whatever the name is."""
    path = tmp_path / "log"
    path.write_text("[]")
    assert isinstance(rows(path, format="philly"), PhillyRows)
