"""The checks of what jobs and lost attempts are said to be, on few jobs."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.columns import match, read_lost, read_trace
from hpcsched.audit.partitions import check_descriptions, check_lost_requests
from hpcsched.audit.violations import Check
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.recorder import RunRecorder
from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.testing.replaying import run_columns
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import changed_request
from tests.runs.hand_made import write_run

SITE = System(tuple(NodeGroup(name, 1, {"core": 4}) for name in ("a", "b", "c")))
DECLARED = Partitions(
    (
        Partition("two", {"queue": frozenset({1})}, groups=frozenset({"a", "b"})),
        Partition("all", {"queue": frozenset({2})}, groups=frozenset({"a", "b", "c"})),
        Partition("any", {"queue": frozenset({3})}),
    )
)


@pytest.fixture(scope="module", name="run")
def _run(tmp_path_factory: pytest.TempPathFactory) -> RunDirectory:
    """Return a run whose tables are to be replaced."""
    return write_run(tmp_path_factory.mktemp("hand") / "run")


def groups(names: str) -> frozenset[str] | None:
    """Return groups by their letters; of none, any."""
    return frozenset(names) if names else None


def described(
    run: RunDirectory, queue: int, own: str, said: str, refused: str | None = None
) -> Check:
    """Return the check of a job: its queue and groups in the trace, and what the run says.

    It may have been refused, by a partition or otherwise.
    """
    traced = Job(1, 0, Request(1, (1,), groups(own)), 20, queue=queue)
    told = changed_request(traced, node_groups=groups(said))
    end = 10 if refused is None else None
    start, place = (0, NodeAllocation((0,), (1,))) if refused is None else (None, None)
    state = "completed" if refused is None else "rejected"
    record = JobRecord(told, 1, 20, state, start, end, place, refused)
    recorder = RunRecorder(run.path, SITE)
    recorder.job_ended(record)
    recorder.close()
    trace = read_trace([TracedJob(traced, 10)], SITE)
    rows = match(trace, run_columns([record], SITE))
    return check_descriptions(RunDirectory.open(run.path), trace, rows, SITE, DECLARED)


@pytest.mark.parametrize(
    ("queue", "own", "expected"),
    [
        (1, "", "ab"),  # the groups of its partition
        (1, "bc", "b"),  # those of them that it may use
        (1, "ab", "ab"),
        (2, "", ""),  # a partition that has all groups binds no job to any
        (2, "bc", "bc"),
        (3, "", ""),  # nor does one that names none
        (3, "bc", "bc"),
        (9, "bc", "bc"),  # a job in no partition, whose groups are its own
    ],
)
def test_groups_of_a_partition(run: RunDirectory, queue: int, own: str, expected: str) -> None:
    """A job is said to use the groups of its partition that it may use; any other is found."""
    check = described(run, queue, own, expected)
    assert check.violations == []
    assert check.looked_at == 1
    there = sorted(expected) if expected else None
    for other in {"", "a", "ab", "bc", "abc"} - {expected}:
        found = described(run, queue, own, other).violations
        said = sorted(other) if other else None
        assert found == [f"job 1: node_groups: expected {there}, found {said}"]


@pytest.mark.parametrize(
    ("refused", "expected"),
    [("over_partition_time", "bc"), ("larger_than_partition", "b"), ("dispatcher", "b")],
)
def test_groups_of_a_job_that_was_refused(run: RunDirectory, refused: str, expected: str) -> None:
    """Its time was too long before its partition had said where it may run."""
    assert described(run, 1, "bc", expected, refused).violations == []


def test_groups_of_a_job_in_no_partition(run: RunDirectory) -> None:
    """They are its own."""
    assert described(run, 9, "bc", "bc", "no_partition").violations == []


Lost = tuple[int, bool, int, list[int], list[int], list[int]]
"""Job, whether it was requeued, units, request, nodes, and units on them."""


def lost_checked(folder: Path, jobs: Sequence[tuple[int, str]], *lost: Lost) -> list[str]:
    """Return what is found of lost attempts of jobs, by number and state.

    They ask for three units of two cores, two of which are on node 1 and one on node 2.
    """
    run = write_run(folder / "run", [])
    rows = [
        {
            "job_id": job_id, "start_time": 0, "end_time": 5, "requeued": requeued, "units": units,
            "unit_request": request, "nodes": nodes, "node_units": on_each,
        }
        for job_id, requeued, units, request, nodes, on_each in lost
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=interruptions_schema())
    pq.write_table(table, run.path / INTERRUPTIONS)
    traced = [TracedJob(Job(k, 0, Request(3, (2,)), 20), 10) for k, _ in jobs]
    place = NodeAllocation((1, 2), (2, 1))
    records = [
        JobRecord(one.job, 6, 20, state, 0, 5, place)
        for one, (_, state) in zip(traced, jobs, strict=True)
    ]
    trace, columns = read_trace(traced, SITE), run_columns(records, SITE)
    check = check_lost_requests(run, trace, columns, read_lost(run))
    assert check.looked_at == len(lost)
    return check.violations


def test_attempts_of_their_jobs(tmp_path: Path) -> None:
    """One that was tried again may have been elsewhere; a failed one was where its job was."""
    found = lost_checked(
        tmp_path,
        [(1, "completed"), (2, "failed")],
        (1, True, 3, [2], [0], [3]),
        (2, False, 3, [2], [1, 2], [2, 1]),
    )
    assert found == []


def test_attempts_of_other_jobs(tmp_path: Path) -> None:
    """Each is found, those after an unknown one too."""
    found = lost_checked(
        tmp_path,
        [(1, "completed"), (2, "failed"), (3, "failed"), (4, "completed")],
        (70, True, 3, [2], [0], [3]),
        (1, True, 4, [2], [0], [4]),
        (1, True, 3, [1], [0], [3]),
        (2, False, 3, [2], [1, 2], [1, 2]),
        (3, False, 3, [2], [1, 0], [2, 1]),
        (4, False, 3, [2], [1, 2], [2, 1]),
    )
    assert found == [
        "job 70: expected to be in the trace, found only as lost",
        "job 1: units and request: expected (3, [2]), found (4, [2])",
        "job 1: units and request: expected (3, [2]), found (3, [1])",
        "job 2: nodes and units: expected [(1, 2), (2, 1)], found [(1, 1), (2, 2)]",
        "job 3: nodes and units: expected [(1, 2), (2, 1)], found [(1, 2), (0, 1)]",
        "job 4: nodes and units: expected None, found [(1, 2), (2, 1)]",
    ]
