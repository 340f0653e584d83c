"""Rows of Parquet files, by hand."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.parquet_rows import COMMENTS_KEY, ParquetRows
from hpcsched.workload.readers.table_rows import open_rows


def test_values_of_parquet(tmp_path: Path) -> None:
    """A field of a structure is a column, and a decimal is read as it is written."""
    path = tmp_path / "jobs.parquet"
    table = pa.table(
        {
            "at": pa.array([datetime(1970, 1, 2, tzinfo=UTC)], pa.timestamp("ms", "UTC")),
            "clock": pa.array([datetime(1970, 1, 1, 0, 1)], pa.timestamp("us")),
            "took": pa.array([timedelta(milliseconds=1200)], pa.duration("ms")),
            "asked": pa.array([{"core": 4, "mem": None}]),
            "price": pa.array([Decimal("1.50")]),
        }
    ).replace_schema_metadata({COMMENTS_KEY: b"A: 1\nB"})
    pq.write_table(table, path)
    rows = open_rows(path, ",")
    assert isinstance(rows, ParquetRows)
    assert rows.comments == ["A: 1", "B"]
    rows.wanted = ["asked.core", "at", "clock", "took", "price", "asked.mem"]
    ((number, record),) = rows.records()
    assert number == 1
    assert rows.values(record) == {
        "asked.core": 4,
        "at": datetime(1970, 1, 2, tzinfo=UTC),
        "clock": datetime(1970, 1, 1, 0, 1),
        "took": timedelta(milliseconds=1200),
        "price": "1.50",
        "asked.mem": None,
    }
    assert rows.fraction_read == 1


def test_a_damaged_parquet_file(tmp_path: Path) -> None:
    """It begins as one and goes on otherwise."""
    path = tmp_path / "jobs.parquet"
    path.write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError) as caught:
        open_rows(path, ",")
    (finding,) = caught.value.findings
    assert finding.rule == "damaged-trace"
    assert finding.message.startswith("expected a whole Parquet file, found damage: ")
