"""Arrays of the trace and the run."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.columns import (
    LostColumns,
    RunColumns,
    match,
    places_in,
    read_lost,
    read_trace,
    run_columns,
    with_lost,
)
from hpcsched.audit.columns import lost_columns as lost_of
from hpcsched.errors import InputError
from hpcsched.runs.columns import interruptions_schema, jobs_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS, JOBS, OUTAGES, REASONS, ROUNDS, SHARED_RESOURCES
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.testing.replaying import columns_of
from hpcsched.workload.job import Job, TracedJob
from tests.runs.hand_made import JOBS as PLACED
from tests.runs.hand_made import (
    REJECTED,
    SYSTEM,
    Placed,
    audit_run,
    job,
    messages,
    record_of,
    write_run,
)


def read_run(run: RunDirectory) -> RunColumns:
    """Return the jobs of a run."""
    return run_columns(run.all_jobs.whole(), SYSTEM)


def lost_columns(*attempts: tuple[int, int, int, bool, list[int], list[int]]) -> LostColumns:
    """Return lost attempts: job, start, end, whether it was requeued, nodes, and units on them."""
    names = ("job_id", "start_time", "end_time", "requeued", "nodes", "node_units")
    times = ("run_time", "lost_time")
    own = {"units": 1, "unit_request": [1, 0, 0], "suspended": False}
    rows = [
        own | dict(zip(names, attempt, strict=True)) | dict.fromkeys(times, attempt[2] - attempt[1])
        for attempt in attempts
    ]
    return lost_of(pa.Table.from_pylist(rows, interruptions_schema(SYSTEM)), SYSTEM)


def kinds(columns: object) -> dict[str, object]:
    """Return the kind of each array, whole numbers, truth values or text, by its name."""
    found = {}
    for field in fields(columns):
        value = getattr(columns, field.name)
        for name, array in value.items() if isinstance(value, dict) else [("", value)]:
            if isinstance(array, np.ndarray):
                found[field.name + name] = array.dtype.kind
    return found


def test_an_empty_trace() -> None:
    """Its columns are of the same kinds as those of any other, so that all checks go through."""
    full = read_trace([p.traced for p in PLACED], SYSTEM)
    empty = read_trace([], SYSTEM)
    assert kinds(empty) == kinds(full)
    assert set(kinds(full).values()) == {"i", "b", "U"}
    assert empty.unit_request.shape == (0, 3)


def test_what_a_trace_does_not_tell() -> None:
    """A number that it does not give is -1, and a name is empty."""
    told = job(2, 0, 1, (1, 0, 0), 5, user=0, queue=4, queue_name="long", partition=0)
    trace = read_trace([job(1, 0, 1, (1, 0, 0), 5), told], SYSTEM)
    numbers = {name: of_jobs.tolist() for name, of_jobs in trace.numbers.items()}
    assert numbers == {
        "user": [-1, 0],
        "group": [-1, -1],
        "application": [-1, -1],
        "queue": [-1, 4],
        "partition": [-1, 0],
    }
    names = {name: of_jobs.tolist() for name, of_jobs in trace.names.items()}
    assert names == {"queue": ["", "long"], "partition": ["", ""]}


def test_an_empty_run(tmp_path: Path) -> None:
    """No job has left: the columns are of the same kinds, and an audit finds nothing wrong."""
    full = read_run(write_run(tmp_path / "full"))
    run = write_run(tmp_path / "run", status="interrupted", until=-1)
    empty = read_run(run)
    assert len(empty.job_id) == 0
    assert kinds(empty) == kinds(full)
    report = audit_run(run)
    assert report.ok, messages(report)


def test_no_lost_attempts() -> None:
    """Their columns are of the same kinds as those of some, and of no other."""
    some = lost_columns((1, 0, 5, True, [0, 1], [2, 3]))
    none = lost_columns()
    assert kinds(none) == kinds(some)
    flags = dict.fromkeys(("requeued", "suspended", "unpaired"), "b") | {"devices": "O"}
    assert kinds(some) == dict.fromkeys(kinds(some), "i") | flags
    assert (some.places.tolist(), some.node.tolist()) == ([2], [0, 1])
    assert some.node_units.tolist() == [2, 3]


def test_attempts_of_which_jobs_are_known() -> None:
    """An attempt that was tried again is a row like its job's, with times and places of its own.

    Job 70 is not in the run, and job 2 was not tried again: 7 rows and 2 attempts of job 1, the
    first in the run, and one of job 4, which is the last in this table.
    """
    order = (0, 1, 2, 4, 5, 6, 3)
    run = columns_of([record_of(PLACED[k]) for k in order], SYSTEM)
    lost = lost_columns(
        (1, 3, 8, True, [0, 1, 2], [1, 1, 1]),
        (70, 3, 8, True, [0], [1]),
        (2, 4, 9, False, [3], [2]),
        (4, 30, 47, True, [1], [1]),
        (1, 20, 21, True, [2, 1, 0], [1, 1, 1]),
    )
    attempts = with_lost(run, lost)
    assert attempts.job_id.tolist() == [1, 2, 3, 5, 6, 7, 4, 1, 4, 1]
    assert attempts.state.tolist() == ["completed"] * 7 + ["requeued"] * 3
    assert attempts.start_time.tolist()[7:] == [3, 30, 20]
    assert attempts.end_time.tolist()[7:] == [8, 47, 21]
    assert attempts.run_time.tolist()[7:] == [5, 17, 1]
    assert attempts.places.tolist()[7:] == [3, 1, 3]
    assert attempts.node.tolist()[-7:] == [0, 1, 2, 1, 2, 1, 0]
    assert attempts.node_units.tolist()[-7:] == [1] * 7
    assert attempts.submit_time.tolist()[7:] == [0, 20, 0]
    assert attempts.one_unit_per_node.tolist()[7:] == [True, False, True]
    assert attempts.demand[7:].tolist() == [run.demand[0], run.demand[6], run.demand[0]]
    assert attempts.ran.tolist() == [True] * 10
    assert attempts.rejected_by.tolist() == [""] * 10
    assert not attempts.unpaired.any()


def test_no_attempt_was_tried_again() -> None:
    """The rows of failed jobs are in the run already."""
    run = columns_of([record_of(placed) for placed in PLACED], SYSTEM)
    assert with_lost(run, lost_columns((1, 0, 5, False, [0], [1]))) is run
    assert with_lost(run, lost_columns((70, 0, 5, True, [0], [1]))) is run


def write_lost(folder: Path, **changed: object) -> RunDirectory:
    """Write two lost attempts into a run, with changes to the rows."""
    run = write_run(folder / "run")
    row = {
        "job_id": 1, "start_time": 0, "end_time": 5, "requeued": True, "units": 3,
        "unit_request": [4, 2, 0], "nodes": [0, 1, 2], "node_units": [1, 1, 1],
        "suspended": False, "run_time": 5, "lost_time": 5,
    }  # fmt: skip
    second = {"nodes": [2], "node_units": [3], "requeued": False, "start_time": 7, "end_time": 9}
    rows = [row | changed, row | second]
    schema = interruptions_schema(SYSTEM)
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), run.path / INTERRUPTIONS)
    return run


def test_lost_attempts_of_a_file(tmp_path: Path) -> None:
    """Times, places and whether it was tried again, row by row."""
    lost = read_lost(write_lost(tmp_path), SYSTEM)
    assert lost.job_id.tolist() == [1, 1]
    assert lost.start_time.tolist() == [0, 7]
    assert lost.end_time.tolist() == [5, 9]
    assert lost.requeued.tolist() == [True, False]
    assert lost.places.tolist() == [3, 1]
    assert lost.place_row.tolist() == [0, 0, 0, 1]
    assert lost.node.tolist() == [0, 1, 2, 2]
    assert lost.node_units.tolist() == [1, 1, 1, 3]
    assert isinstance(lost, LostColumns)


@pytest.mark.parametrize(
    "units",
    [
        [1, 1],  # of all rows, 3 units on 4 nodes
        [1, 1, 1, 1],
        None,
    ],
)
def test_lost_attempts_without_units_on_each_node(tmp_path: Path, units: list[int] | None) -> None:
    """The message names the file."""
    run = write_lost(tmp_path, node_units=units)
    with pytest.raises(InputError) as refused:
        read_lost(run, SYSTEM)
    path = run.path / INTERRUPTIONS
    expected = f"{path}: error: it is damaged: units do not match nodes [damaged-file]"
    assert str(refused.value) == expected


def test_units_of_one_attempt_on_nodes_of_another(tmp_path: Path) -> None:
    """Two units on three nodes and two on one are as many units as nodes in all."""
    run = write_lost(tmp_path, node_units=[1, 1])
    path = run.path / INTERRUPTIONS
    rows = pq.read_table(path).to_pylist()
    rows[1]["node_units"] = [2, 1]
    pq.write_table(pa.Table.from_pylist(rows, schema=interruptions_schema(SYSTEM)), path)
    with pytest.raises(InputError, match="units do not match nodes"):
        read_lost(run, SYSTEM)


def test_places() -> None:
    """Rows whose nodes and units differ in number are unpaired, and have no places.

    A node that is null is no node; no units on it are none.
    """
    table = pa.table(
        {
            "nodes": pa.array([[3, 4], None, [5], [6, 7], [None]], pa.list_(pa.int32())),
            "node_units": pa.array([[1, 2], None, [8, 9], [5, 6], [None]], pa.list_(pa.int32())),
        }
    )
    _, places, unpaired, node, units = places_in(table).values()
    assert places.tolist() == [2, 0, 0, 2, 1]
    assert unpaired.tolist() == [False, False, True, False, False]
    assert node.tolist() == [3, 4, 6, 7, -1]
    assert units.tolist() == [1, 2, 5, 6, 0]


def test_a_node_that_is_null(tmp_path: Path) -> None:
    """It is not taken for node 0."""
    run = write_run(tmp_path / "run")
    path = run.path / JOBS
    rows = pq.read_table(path).to_pylist()
    row = next(row for row in rows if row["job_id"] == 1)
    assert row["nodes"] == [0, 1, 2]
    row["nodes"] = [None, 1, 2]
    pq.write_table(pa.Table.from_pylist(rows, schema=jobs_schema(SYSTEM)), path)
    found = messages(audit_run(run))
    assert "job 1: node: expected a number from 0 to 3, found -1" in found


def test_times_of_a_rejected_job(tmp_path: Path) -> None:
    """It has none, and 0 stands in for them."""
    run = read_run(write_run(tmp_path / "run", [*PLACED, REJECTED]))
    row = run.job_id.tolist().index(8)
    assert (run.has_start_time[row], run.has_end_time[row], run.ran[row]) == (False, False, False)
    assert (run.start_time[row], run.end_time[row], run.run_time[row]) == (0, 0, 0)
    assert run.ran.sum() == len(PLACED)
    assert run.rejected_by[row] == "dispatcher" and run.places[row] == 0


def with_numbers(*numbers: int) -> list[Placed]:
    """Return jobs of these numbers."""
    return [Placed(job(k, 0, 1, (1, 0, 0), 5), 0, {0: 1}) for k in numbers]


def matched(of_trace: Sequence[int], of_run: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the rows of a run and the places in a trace of jobs of these numbers."""
    trace = read_trace([placed.traced for placed in with_numbers(*of_trace)], SYSTEM)
    run = columns_of([record_of(placed) for placed in with_numbers(*of_run)], SYSTEM)
    rows, of = match(trace.job_id, run.job_id)
    return rows.tolist(), of.tolist()


def test_rows_and_jobs_side_by_side() -> None:
    """Of jobs of the run those that the trace has, in the order of the run.

    Numbers before, between and after all those of the trace are not in it.
    """
    assert matched([9, 3, 6], [6, 1, 9, 5, 10, 3]) == ([0, 2, 5], [2, 0, 1])


def test_the_first_of_jobs_with_one_number() -> None:
    """A job that comes often in the trace is its first, however many there are."""
    assert matched([*[7] * 500, *[5] * 500], [7, 1, 5]) == ([0, 2], [0, 500])


def test_no_jobs_to_match() -> None:
    """Of an empty trace nothing is in the run."""
    assert matched([], [1]) == ([], [])


def traced(units: int, *request: int) -> TracedJob:
    """Return a job that asks for units of a request."""
    return TracedJob(Job(1, 0, Request(units, request), 10), 5)


def test_demands() -> None:
    """The largest share of the system, in parts of it that make all shares whole.

    Of 16 cores, 112 of memory and 2 GPUs, lcm(16, 112, 2) = 112 parts: a core is 7 parts, one of
    memory 1, a GPU 56. Three units of 4 cores (28) and 30 of memory (30) are 90 parts.
    """
    assert SYSTEM.totals == (16, 112, 2)
    asked = [traced(3, 4, 30, 0), traced(3, 4, 2, 0), traced(2, 1, 1, 1), traced(5, 0, 0, 0)]
    assert read_trace(asked, SYSTEM).demand == [90, 84, 112, 0]


def test_demands_where_there_is_none_of_a_resource() -> None:
    """It has no share in the demand; where there is nothing at all, demands are 0."""
    some = System((NodeGroup("a", 2, {"core": 4, "gpu": 0}),))
    assert read_trace([traced(3, 2, 0), traced(1, 0, 1)], some).demand == [6, 0]
    nothing = System((NodeGroup("a", 2, {"core": 0}),))
    assert read_trace([traced(3, 0)], nothing).demand == [0]


def test_large_demands_are_exact() -> None:
    """Seven times 2^55 + 1 bytes has more bits than a float."""
    large = System((NodeGroup("a", 2, {"mem": 2**60}),))
    assert read_trace([traced(7, 2**55 + 1)], large).demand == [7 * (2**55 + 1)]


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
            "column 26: expected lost_time: int64 not null, found begin_delay: int64 not null",
        ),
        (
            JOBS,
            lambda table: table.append_column("mine", of(1)(len(table))),
            "column 30: expected none, found mine: int64",
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
        (SHARED_RESOURCES, "time: int64 not null"),
    ],
)
def test_other_tables(copy: Path, file: str, first: str) -> None:
    """Those that not every run has are looked at, too."""
    pq.write_table(pa.table({"mine": [1]}), copy / file)
    with pytest.raises(InputError, match=rf"{file}: .*: expected {first}, found mine: int64 "):
        audit_run(RunDirectory.open(copy))
