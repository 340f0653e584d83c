"""Columns of a run's tables are decoded once where there is room, and are the same anyway."""

from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.metrics.capacity import loss_of_capacity, loss_of_capacity_by_resource, utilization
from hpcsched.metrics.metric import RunTables
from hpcsched.runs.tables import KeptTable, ParquetTable
from tests.metrics.tables import Ran, jobs_table, rounds_table

ROWS = 10
ASKED = [
    ("start_time", "end_time"),
    ("end_time",),
    ("unit_request.core", "start_time"),
    ("end_time", "end_time"),
    ("share", "unit_request.core", "end_time"),
    ("start_time", "end_time"),
]


@pytest.fixture(name="path")
def _path(tmp_path: Path) -> Path:
    """Write a table of three row groups, of which a row has no start."""
    table = pa.table(
        {
            "start_time": pa.array([0, 1, None, *range(3, ROWS)], pa.int64()),
            "end_time": np.arange(ROWS) + 5,
            "unit_request": [{"core": k} for k in range(ROWS)],
            "share": np.arange(ROWS) / 7,
        }
    )
    pq.write_table(table, tmp_path / "jobs.parquet", row_group_size=4)
    return tmp_path / "jobs.parquet"


def told(table: ParquetTable | KeptTable, columns: tuple[str, ...]) -> str:
    """Return all batches of some columns, in digits: a start that is not there is no number."""
    return str([[column.tolist() for column in batch] for batch in table.batches(*columns)])


@pytest.mark.parametrize("room", [0, 8 * ROWS, 3 * 8 * ROWS - 1, 100 * ROWS])
@pytest.mark.parametrize("ran_only", [True, False])
def test_as_they_are_in_the_file(path: Path, room: int, ran_only: bool) -> None:
    """With room for no column, for one, nearly for three and for all: the same batches."""
    table = ParquetTable(path, ran_only=ran_only)
    kept = KeptTable(table, room)
    for columns in ASKED * 2:
        assert told(kept, columns) == told(table, columns)


def test_decoded_once(path: Path) -> None:
    """Whatever is asked for again is not read again; a column for which there is no room is.

    The six askings are for start_time and end_time, then core, then share. With room for three
    columns, only the fifth, which share needs, is one for the file, each time.
    """
    for room, reads in ((100 * ROWS, 3), (3 * 8 * ROWS, 4)):
        table = ParquetTable(path)
        kept = KeptTable(table, room)
        with mock.patch.object(table, "batches", wraps=table.batches) as batches:
            for columns in ASKED * 2:
                list(kept.batches(*columns))
        assert batches.call_count == reads


def test_nobody_can_change_them(path: Path) -> None:
    """A metric that writes to a column would change what others are given."""
    for _ in range(2):
        ((column,), *_) = KeptTable(ParquetTable(path)).batches("end_time")
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1


def test_an_unknown_column(path: Path) -> None:
    """The error is that of the file."""
    with pytest.raises(InputError, match="it has no column 'gone'"):
        list(KeptTable(ParquetTable(path)).batches("end_time", "gone"))


def test_figures_by_resource_type_are_worked_out_once() -> None:
    """Utilization and loss of capacity go over the rounds once, however many figures need them."""
    rounds = rounds_table([(0, 3, 2), (10, 0, 0)])
    run = RunTables(jobs_table([Ran(0, 10, 10, 1)]), rounds, {"core": 2})
    first = utilization(run), loss_of_capacity(run)
    with mock.patch.object(type(rounds), "batches", side_effect=AssertionError):
        assert (utilization(run), loss_of_capacity(run)) == first
        # 2 of 2 cores were free for 10 of 20 s, while 3 were waited for.
        assert loss_of_capacity_by_resource(run) == {"core": 20 / 40}
