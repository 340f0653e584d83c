"""Parquet files of a run as tables."""

from pathlib import Path

import pyarrow.parquet as pq

from hpcsched.runs.columns import jobs_schema
from hpcsched.runs.files import JOBS
from hpcsched.runs.tables import ParquetTable
from tests.runs.hand_made import JOBS as PLACED
from tests.runs.hand_made import REJECTED, SYSTEM, write_run


def test_columns_of_earlier_versions_have_their_present_names(tmp_path: Path) -> None:
    """`one_unit_per_node` was called `scatter`; all ways to read a table give it."""
    file = write_run(tmp_path / "run", [*PLACED, REJECTED]).path / JOBS
    table = pq.read_table(file)
    names = ["scatter" if name == "one_unit_per_node" else name for name in table.column_names]
    pq.write_table(table.rename_columns(names), file)
    values = table["one_unit_per_node"].to_pylist()
    assert True in values
    assert False in values
    read = ParquetTable(file)
    read.check_columns(jobs_schema(SYSTEM))
    assert read.has("one_unit_per_node")
    assert read.whole().column_names == table.column_names
    assert read.read("one_unit_per_node", "job_id")["one_unit_per_node"].to_pylist() == values
    assert [batch.tolist() for (batch,) in read.batches("one_unit_per_node")] == [values]
