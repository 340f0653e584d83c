"""One table of columns says what files have of jobs and rounds, and where that comes from."""

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hpcsched.runs.columns import JOB_COLUMNS, ROUND_COLUMNS
from hpcsched.runs.files import JOBS, ROUNDS
from hpcsched.simulation.records import RoundRecord
from hpcsched.studies.problems.problem_files import JobLine
from hpcsched.system.system import Request
from hpcsched.workload.job import BOUNDS, FLAGS, Column, bounded_request
from tests.builders import traced
from tests.runs.hand_made import JOBS as PLACED
from tests.runs.hand_made import REJECTED, SYSTEM, record_of, rounds_of, write_run


def stated(record: Any, column: Column) -> object:
    """Return the value of a record for a column, as a table of Parquet gives it."""
    name = column.name
    if name in ("nodes", "node_units"):
        places = record.allocation
        return places and list(places.nodes if name == "nodes" else places.units)
    if name == "run_time":
        return None if record.end_time is None else record.end_time - record.start_time
    job = getattr(record, "job", None)
    holders = [one for one in (record, job, job and job.request) if hasattr(one, name)]
    value = getattr(holders[0], name)
    if column.kind in ("amounts", "real_amounts"):
        return dict(zip(SYSTEM.resource_types, value, strict=True))
    return column.told(value)


def test_files_have_what_records_state(tmp_path: Path) -> None:
    """Each value of each column, of jobs of all sorts and of rounds."""
    jobs = [*PLACED, REJECTED]
    run = write_run(tmp_path / "run", jobs)
    records = {placed.traced.job.job_id: record_of(placed) for placed in jobs}
    rows = pq.read_table(run.path / JOBS).to_pylist()
    assert len(rows) == len(records)
    for row in rows:
        assert row == {c.name: stated(records[row["job_id"]], c) for c in JOB_COLUMNS}
    rows = pq.read_table(run.path / ROUNDS).to_pylist()
    assert rows == [{c.name: stated(one, c) for c in ROUND_COLUMNS} for one in rounds_of(jobs)]


def test_rounds_have_the_fields_of_their_records() -> None:
    """Every field is a column."""
    assert tuple(column.name for column in ROUND_COLUMNS) == RoundRecord._fields


def test_all_of_a_request_is_told() -> None:
    """Whatever it says of where and how units may be placed is in jobs.parquet and instances."""
    bounds = [column.name for column in BOUNDS]
    assert tuple(bounds) == Request._fields[2:-1]
    assert set(bounds) <= {column.name for column in JOB_COLUMNS}
    assert set(bounds) <= set(JobLine.model_fields)
    assert [JobLine.model_fields[name].default for name in bounds] == list(Request(1, ())[2:-1])


@pytest.mark.parametrize("flag", FLAGS)
def test_a_request_is_told_and_taken(flag: str) -> None:
    """Sets are ascending lists in files; what is taken out of a file is what was put in."""
    more = {"node_groups": frozenset("ba"), "allowed_nodes": frozenset({20, 3}), flag: True}
    request = traced(1, 0, 2, 5, (1, 2), shared_requests=(("p", 1),), **more).job.request
    told = {column.name: column.told(column.get(request)) for column in BOUNDS}
    assert (told["node_groups"], told["allowed_nodes"]) == (["a", "b"], [3, 20])
    assert bounded_request(2, (1, 2), told, (("p", 1),)) == request
