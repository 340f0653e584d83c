"""The job log of Eurora as rows, by hand."""

from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.table_rows import LIMIT, USED, EuroraRows

DERIVED = [
    "core",
    "gpu",
    "mic",
    "mem_kib",
    "requested_minutes",
    "used_nodes",
    "on_nodes_of_its_own",
]


def values(folder: Path, limit: str, used: str) -> list[Any]:
    """Return what the reader adds to a row of the log."""
    path = folder / "log.csv"
    path.write_text(f"job_id;{LIMIT};{USED}\n7;{limit};{used}\n")
    rows = EuroraRows(path)
    ((number, record),) = rows.records()
    assert (number, rows.files, rows.fraction_read) == (2, [path], 1)
    row = rows.values(record)
    assert row["job_id"] == "7"
    return [row[name] for name in DERIVED]


@pytest.mark.parametrize(
    ("limit", "used", "derived"),
    [
        ("03:59", "64:1:2:0:1048576", [1, 2, 0, 1048576, 239, [63], True]),
        ("00:01", "2:4:0:1:5 1:4:0:1:5", [4, 0, 1, 5, 1, [0, 1], True]),
        ("100:00", "2:4:0:1:5 2:4:0:1:5 1:4:0:1:5", [4, 0, 1, 5, 6000, [0, 1], False]),
        ("", "1:1:0:0:1", [1, 0, 0, 1, None, [0], True]),
    ],
)
def test_what_nodes_and_limits_say(
    tmp_path: Path, limit: str, used: str, derived: list[Any]
) -> None:
    """Node 1 of the log is node 0; a chunk has the amounts that all parts have."""
    assert values(tmp_path, limit, used) == derived


@pytest.mark.parametrize(
    ("limit", "used", "message"),
    [
        ("00:30", "", "expected such parts for nodes from 1, found ''"),
        ("00:30", "1:1:0:0", "expected such parts for nodes from 1, found '1:1:0:0'"),
        ("00:30", "0:1:0:0:1", "expected such parts for nodes from 1, found '0:1:0:0:1'"),
        ("00:30", "1:x:0:0:1", "expected such parts for nodes from 1, found '1:x:0:0:1'"),
        ("00:30", "1:1:0:0:1 2:2:0:0:1", "expected equal amounts on all nodes"),
        ("30", "1:1:0:0:1", "expected HH:MM, found '30'"),
        ("1:60", "1:1:0:0:1", "expected HH:MM, found '1:60'"),
        ("-1:30", "1:1:0:0:1", "expected HH:MM, found '-1:30'"),
    ],
)
def test_rows_that_are_none(tmp_path: Path, limit: str, used: str, message: str) -> None:
    """The column and what stands in it are named."""
    with pytest.raises(ValueError, match=message):
        values(tmp_path, limit, used)


def test_another_table(tmp_path: Path) -> None:
    """A file without the columns that are needed is refused, with those that are there."""
    path = tmp_path / "log.csv"
    path.write_text("job_id;used\n1;2\n")
    with pytest.raises(
        InputError, match=r"log\.csv:1: error: expected the log of Eurora.*job_id, used"
    ):
        EuroraRows(path)
