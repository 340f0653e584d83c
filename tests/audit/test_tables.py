"""Tables of a run whose columns are not what they must be: an error that names the file."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS, JOBS, OUTAGES, REASONS, ROUNDS
from tests.runs.hand_made import audit_run, write_run

Change = Callable[[pa.Table], pa.Table]


@pytest.fixture(scope="module", name="honest")
def _honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a run of which the audit finds nothing."""
    return write_run(tmp_path_factory.mktemp("hand") / "run").path


@pytest.fixture(name="copy")
def _copy(honest: Path, tmp_path: Path) -> Path:
    """Return a copy of the run, to be damaged."""
    shutil.copy(honest.parent / "trace.txt", tmp_path)
    return shutil.copytree(honest, tmp_path / "run")


def column(name: str, values: Callable[[int], Any]) -> Change:
    """Return a change of a column: its values, given how many."""

    def change(table: pa.Table) -> pa.Table:
        k = table.schema.get_field_index(name)
        return table.set_column(k, name, values(len(table)))

    return change


def of(value: Any, kind: pa.DataType | None = None) -> Callable[[int], Any]:
    """Return what gives a column of equal values."""
    return lambda rows: pa.array([value] * rows, kind)


def no_text(rows: int) -> Any:
    """Return a column of strings whose bytes are no text."""
    bytes_ = pa.array([b"\xff\xfe"] * rows, pa.binary())
    return pa.Array.from_buffers(pa.string(), rows, bytes_.buffers())


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        (
            JOBS,
            column("units", of("x")),
            "column 8: expected units: int64 not null, found units: string",
        ),
        (
            JOBS,
            column("units", of(None, pa.int64())),
            "column 8: expected units: int64 not null, found units: int64",
        ),
        (JOBS, column("demand", of("x")), "expected demand: int64 not null, found demand: string"),
        (JOBS, column("exclusive", of([True])), "expected exclusive: bool not null, found"),
        (JOBS, column("rejected_by", of([1, 2])), "expected rejected_by: string, found"),
        (JOBS, column("nodes", of(1)), "expected nodes: list<item: int32>, found nodes: int64"),
        (JOBS, column("name", no_text), "it is damaged: column name: "),
        (JOBS, column("rejected_by", no_text), "it is damaged: column rejected_by: "),
        (
            JOBS,
            lambda table: table.drop_columns(["lost_time"]),
            "column 26: expected lost_time: int64 not null, found none",
        ),
        (
            JOBS,
            lambda table: table.append_column("mine", of(1)(len(table))),
            "column 27: expected none, found mine: int64",
        ),
        (ROUNDS, column("started", of("x")), "expected started: int64 not null, found started"),
        (ROUNDS, column("solver", of(1)), "expected solver: struct<"),
    ],
)  # fmt: skip
def test_columns_of_another_kind(copy: Path, file: str, change: Change, message: str) -> None:
    """The message names the file, the column, and its type; strings must be text."""
    path = copy / file
    pq.write_table(change(pq.read_table(path)), path)
    with pytest.raises(InputError) as refused:
        audit_run(RunDirectory.open(copy))
    assert str(refused.value).startswith(f"{path}: error: it is damaged: ")
    assert str(refused.value).endswith(" [damaged-file]")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("file", "first"),
    [
        (OUTAGES, "start_time: int64 not null"),
        (INTERRUPTIONS, "job_id: int64 not null"),
        (REASONS, "round: int64 not null"),
    ],
)
def test_other_tables(copy: Path, file: str, first: str) -> None:
    """Those that not every run has are looked at, too."""
    pq.write_table(pa.table({"mine": [1]}), copy / file)
    with pytest.raises(InputError, match=rf"{file}: .*: expected {first}, found mine: int64 "):
        audit_run(RunDirectory.open(copy))
