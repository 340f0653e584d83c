"""Columns of a run's tables in memory give metrics what the files give them."""

from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.metrics.capacity import loss_of_capacity, loss_of_capacity_by_resource, utilization
from hpcsched.metrics.metric import RunTables
from hpcsched.runs.tables import KeptColumns, ParquetTable
from tests.metrics.tables import Ran, jobs_table, rounds_table

ROWS = 10
ASKED = [
    ("start_time", "end_time"),
    ("unit_request.core", "start_time"),
    ("large", "share", "flag", "same"),
    ("end_time", "user"),
    ("end_time", "end_time"),
]


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    """Write a table of three row groups, of which a row has no start, and another no user."""
    table = pa.table(
        {
            "start_time": pa.array([0, 1, None, *range(3, ROWS)], pa.int64()),
            "end_time": np.arange(ROWS) + 5,
            "unit_request": pa.array(
                [{"core": k} for k in range(ROWS)],
                pa.struct([pa.field("core", pa.int64(), nullable=False)]),
            ),
            "share": np.arange(ROWS) / 7,
            "large": np.arange(ROWS) * 2**40 - 2**42,
            "flag": np.arange(ROWS) % 3 == 0,
            "same": np.full(ROWS, -7),
            "user": pa.array([None, *range(1, ROWS)], pa.int64()),
            "name": [str(k) for k in range(ROWS)],
        }
    )
    pq.write_table(table, tmp_path / "jobs.parquet", row_group_size=4)
    return tmp_path / "jobs.parquet"


def kept(path: Path, *, ran_only: bool) -> KeptColumns:
    """Return the columns of a file in memory."""
    columns, table = KeptColumns(path, ran_only=ran_only), ParquetTable(path)
    for part in table.parts(*table.schema.names):
        columns.add(part)
    return columns


def told(table: ParquetTable | KeptColumns, columns: tuple[str, ...]) -> str:
    """Return all batches of some columns, in digits, with their types."""
    batches = table.batches(*columns)
    return str([[(column.tolist(), column.dtype) for column in batch] for batch in batches])


@pytest.mark.parametrize("ran_only", [True, False])
def test_as_they_are_in_the_file(path: Path, ran_only: bool) -> None:
    """Whole numbers small and large, fractions, flags, and missing ones: the same batches."""
    columns = kept(path, ran_only=ran_only)
    for asked in ASKED:
        assert told(columns, asked) == told(ParquetTable(path, ran_only=ran_only), asked)


def test_nobody_can_change_them(path: Path) -> None:
    """A metric that writes to a column does not change what others are given."""
    columns = kept(path, ran_only=False)
    for _ in range(2):
        ((ends, *_), *_) = columns.batches("end_time")
        assert ends[0] == 5
        ends[0] = 1
    ((shares,), *_) = columns.batches("share")
    with pytest.raises(ValueError, match="read-only"):
        shares[0] = 1


def test_an_unknown_column(path: Path) -> None:
    """The error is that of the file."""
    with pytest.raises(InputError, match="it has no column 'gone'"):
        list(kept(path, ran_only=True).batches("end_time", "gone"))


def test_figures_by_resource_type_are_worked_out_once() -> None:
    """Utilization and loss of capacity go over the rounds once, however many figures need them."""
    rounds = rounds_table([(0, 3, 2), (10, 0, 0)])
    run = RunTables(jobs_table([Ran(0, 10, 10, 1)]), rounds, {"core": 2})
    first = utilization(run), loss_of_capacity(run)
    with mock.patch.object(type(rounds), "batches", side_effect=AssertionError):
        assert (utilization(run), loss_of_capacity(run)) == first
        # 2 of 2 cores were free for 10 of 20 s, while 3 were waited for.
        assert loss_of_capacity_by_resource(run) == {"core": 20 / 40}
