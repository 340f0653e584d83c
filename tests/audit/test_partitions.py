"""Checks of partitions and descriptions."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.columns import read_lost, read_trace
from hpcsched.audit.limits import group_limits
from hpcsched.audit.outage_checks import lost_requests
from hpcsched.audit.partitions import (
    descriptions,
    partition_nodes,
    partition_of,
    refusals,
)
from hpcsched.audit.violations import Check
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS
from hpcsched.runs.recorder import RunRecorder
from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job, TracedJob
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import changed_request, per_user
from tests.runs.columns_by_hand import audited
from tests.runs.hand_made import SYSTEM, job, replayed, row, write_run

THIN, FAT = frozenset({"thin"}), frozenset({"fat"})
REST = Partition("rest")


def small(number: int = 1, units: int = 1, run_time: int = 10, **more: Any) -> TracedJob:
    """Return a job of units of one core, submitted at 0."""
    return job(number, 0, units, (1, 0, 0), run_time, **more)


@pytest.mark.parametrize(
    ("declared", "places"),
    [
        # Queues are 1, 2, 2 and none, that of the second is named `long`, and groups 5, 5, none, 6.
        (({"queue": {1}}, {"queue": {2}}), [0, 1, 1, -1]),
        (({"queue": {2}}, {"queue": {1, 2}}), [1, 0, 0, -1]),
        (({"queue": {"long"}}, {"queue": {2}}), [-1, 0, 1, -1]),
        (({"queue": {1, "long"}},), [0, 0, -1, -1]),
        (({"group": {5}, "queue": {2}},), [0, 0, 0, -1]),
        (({"group": {6}}, {}), [1, 1, 1, 0]),
        (({}, {"group": {6}}, {}), [0, 0, 0, 1]),
        (({"application": {1}},), [-1, -1, -1, -1]),
        (({"partition": {"long"}},), [-1, -1, -1, -1]),
    ],
)
def test_partition_of(declared: tuple[dict[Any, set[Any]], ...], places: list[int]) -> None:
    """The first that claims a job has it, else the first that claims none by number or name."""
    jobs = [
        small(1, queue=1, group=5),
        small(2, queue=2, queue_name="long", group=5),
        small(3, queue=2),
        small(4, group=6),
    ]
    partitions = tuple(
        Partition(str(n), {what: frozenset(claimed) for what, claimed in claims.items()})
        for n, claims in enumerate(declared)
    )
    assert partition_of(read_trace(jobs, SYSTEM), Partitions(partitions)).tolist() == places


def checked(traced: list[TracedJob], rows: list[JobRecord], *partitions: Partition) -> list[Check]:
    """Return the checks of what was refused, of nodes, and of users."""
    at = replayed(traced, rows, partitions=Partitions(partitions))
    checks = [rule(at) for rule in (refusals, partition_nodes, group_limits)]
    return [check for check in checks if check is not None]


def refusal(traced: TracedJob, by: str, *partitions: Partition) -> list[str]:
    """Return what is found of a job that was refused by something, or by nothing."""
    at = row(traced, None, rejected_by=by) if by else row(traced, 0, {3: traced.job.units})
    check = checked([traced], [at], *partitions)[0]
    assert check.looked_at == 1
    return check.violations


TIME, SIZE, NODES = "over_partition_time", "larger_than_partition", "over_limit"
ON_THIN = Partition("thin", groups=THIN)
TWO_NODES = Partition("two", limits=per_user(nodes=2))


@pytest.mark.parametrize(
    ("traced", "partition", "reason"),
    [
        # It requests twice its run time and 1 s more.
        (small(run_time=10), Partition("short", max_time=21), ""),
        (small(run_time=10), Partition("short", max_time=20), TIME),
        # Units of one core: 4 on each node, 12 on those that are thin.
        (small(units=16), REST, ""),
        (small(units=17), REST, SIZE),
        (small(units=12), ON_THIN, ""),
        (small(units=13), ON_THIN, SIZE),
        (small(units=4), Partition("fat", groups=FAT), ""),
        (small(units=5), Partition("fat", groups=FAT), SIZE),
        (small(units=4, node_groups=FAT), REST, ""),
        (small(units=5, node_groups=FAT), REST, SIZE),
        (small(units=1, node_groups=FAT), ON_THIN, SIZE),
        (small(units=8, allowed_nodes=frozenset({0, 3})), REST, ""),
        (small(units=9, allowed_nodes=frozenset({0, 3})), REST, SIZE),
        (small(units=4, allowed_nodes=frozenset({0, 3})), ON_THIN, ""),
        (small(units=5, allowed_nodes=frozenset({0, 3})), ON_THIN, SIZE),
        (small(units=4, one_unit_per_node=True), REST, ""),
        (small(units=5, one_unit_per_node=True), REST, SIZE),
        # Units of 3 cores: one on each node. Of 1 core and 32 mem: two on node 3, none elsewhere.
        (job(1, 0, 4, (3, 0, 0), 5), REST, ""),
        (job(1, 0, 5, (3, 0, 0), 5), REST, SIZE),
        (job(1, 0, 2, (1, 32, 0), 5), REST, ""),
        (job(1, 0, 3, (1, 32, 0), 5), REST, SIZE),
        (job(1, 0, 2, (0, 0, 1), 5), REST, ""),
        (job(1, 0, 3, (0, 0, 1), 5), REST, SIZE),
        # In the worst case each unit has a node of its own, as far as there are nodes for it.
        (small(units=2), TWO_NODES, ""),
        (small(units=3), TWO_NODES, NODES),
        (small(units=8, allowed_nodes=frozenset({0, 3})), TWO_NODES, ""),
        (small(units=9), Partition("three", groups=THIN, limits=per_user(nodes=3)), ""),
    ],
)
def test_refusals(traced: TracedJob, partition: Partition, reason: str) -> None:
    """A job is refused for the first of three reasons that holds, and otherwise not."""
    assert refusal(traced, reason, partition) == []
    wrong = "" if reason else SIZE
    assert refusal(traced, wrong, partition) == [
        f"job 1: rejected_by: expected {reason or 'nothing'}, found {wrong or 'nothing'}"
    ]


def test_refused_beyond_the_partition() -> None:
    """Dispatcher and shared resources may refuse a job that its partition does not have to."""
    for by in ("dispatcher", "over_shared_resource"):
        assert refusal(small(), by, REST) == []
        expected = f"job 1: rejected_by: expected larger_than_partition, found {by}"
        assert refusal(small(units=17), by, REST) == [expected]
    assert refusal(small(), "no_partition", REST) == [
        "job 1: rejected_by: expected nothing, found no_partition"
    ]


def test_jobs_of_no_partition() -> None:
    """They are refused as such; one of the first or second partition is not."""
    first, second = (Partition(f"queue {k}", {"queue": frozenset({k})}) for k in (1, 2))
    assert refusal(small(), "no_partition", first) == []
    assert refusal(small(queue=1), "", first, second) == []
    assert refusal(small(queue=2), "", first, second) == []
    assert refusal(small(queue=3), "", first, second) == [
        "job 1: rejected_by: expected no_partition, found nothing"
    ]


def test_no_partitions() -> None:
    """Then there is nothing to check."""
    assert checked([small()], [row(small(), 0, {0: 1})]) == []


@pytest.mark.parametrize(
    ("queue", "places", "found"),
    [
        (1, {3: 1}, []),
        (1, {0: 1, 2: 1, 3: 1}, ["thin-0", "thin-2"]),
        (2, {0: 1, 3: 1}, []),
        (3, {0: 1, 2: 1}, []),
        (3, {2: 1, 3: 1}, ["fat-0"]),
        (1, {-1: 1, 4: 1, 44: 1}, []),  # that there is no such node is found elsewhere
    ],
)
def test_nodes(queue: int, places: dict[int, int], found: list[str]) -> None:
    """Queue 1 has the fat node, 3 the thin ones; in 2, which is declared before 3, all are fine."""
    traced = small(queue=queue, units=len(places))
    claims = {k: {"queue": frozenset({k})} for k in (1, 2, 3)}
    partitions = (
        Partition("fat", claims[1], FAT),
        Partition("any", claims[2]),
        Partition("thin", claims[3], THIN),
    )
    check = checked([traced], [row(traced, 0, places)], *partitions)[1]
    name, group = {1: ("fat", "fat"), 3: ("thin", "thin")}.get(queue, ("any", ""))
    assert check.violations == [
        f"job 1: partition {name}: expected a node of {group}, found {node}" for node in found
    ]
    assert check.looked_at == len(places)


def of_users(*jobs: tuple[int | None, int, int, int]) -> tuple[list[TracedJob], list[JobRecord]]:
    """Return jobs of one unit for each node, and their rows: user, start, end, and nodes."""
    traced = [
        small(k, nodes, end - start, user=user)
        for k, (user, start, end, nodes) in enumerate(jobs, start=1)
    ]
    rows = [
        row(one, start, dict.fromkeys(range(nodes), 1))
        for one, (_, start, _, nodes) in zip(traced, jobs, strict=True)
    ]
    return traced, rows


ONE_JOB = Partition("one", limits=per_user(jobs=1))


@pytest.mark.parametrize(
    ("jobs", "found"),
    [
        # One job after another, and jobs of others beside them.
        ([(7, 0, 10, 1), (7, 10, 20, 1), (8, 0, 20, 1)], []),
        ([(7, 0, 10, 1), (7, 9, 20, 1)], ["job 2: second 9"]),
        ([(7, 0, 10, 1), (7, 5, 5, 1), (7, 10, 10, 1)], []),
        ([(0, 0, 10, 1), (0, 9, 20, 1)], ["job 2: second 9"]),
        ([(7, 0, 10, 1), (7, 1, 20, 1)], ["job 2: second 1"]),
        # User 8 begins with two jobs as user 7 ends.
        (
            [(7, 0, 10, 1), (8, 10, 20, 1), (8, 10, 20, 1)],
            ["job 2: second 10", "job 3: second 10"],
        ),
        # Jobs of unknown users may be anybody's, and are not counted as those of users 0 or 1.
        ([(None, 0, 10, 1), (None, 0, 10, 1), (0, 0, 10, 1), (1, 0, 10, 1)], []),
    ],
)
def test_running_jobs(jobs: list[tuple[int | None, int, int, int]], found: list[str]) -> None:
    """A user may run one job at a time."""
    check = checked(*of_users(*jobs), ONE_JOB)[2]
    told = "partition one: MaxJobsPerUser=1: expected at most 1, found 2"
    assert check.violations == [f"{text}: {told}" for text in found]


def test_nodes_of_a_user() -> None:
    """Jobs of 2 and 1 nodes, of which one has two: a node counts once."""
    jobs = of_users((7, 0, 10, 2), (7, 4, 8, 1))
    assert checked(*jobs, TWO_NODES)[2].violations == []
    traced, rows = jobs
    rows[1] = rows[1]._replace(allocation=NodeAllocation((2,), (1,)))
    assert checked(traced, rows, TWO_NODES)[2].violations == [
        "job 2: second 4: partition two: MaxTRESPerUser nodes=2: expected at most 2, found 3"
    ]


def test_each_partition_and_limit_by_itself() -> None:
    """A user may run one job in each of two queues; both limits of each are looked at."""
    traced, rows = of_users((7, 0, 10, 1), (7, 5, 15, 1), (7, 5, 15, 2))
    queues = [
        one._replace(job=one.job._replace(queue=k))
        for one, k in zip(traced, (1, 2, 3), strict=True)
    ]
    partitions = [
        Partition(f"queue {k}", {"queue": frozenset({k})}, limits=per_user(nodes=2, jobs=1))
        for k in (1, 2, 4)
    ]
    check = checked(queues, rows, *partitions)[2]
    assert (check.violations, check.looked_at) == ([], 2 * 2)


def test_jobs_that_are_not_in_the_trace() -> None:
    """They belong to no partition and to nobody; other checks tell of them."""
    traced, rows = of_users((7, 0, 10, 1), (7, 0, 10, 1), (7, 0, 10, 1))
    other = Partition("other", {"queue": frozenset({1})}, THIN, limits=per_user(jobs=1))
    on_fat = Partition("fat", groups=FAT, limits=per_user(jobs=1))
    rows[0] = rows[0]._replace(allocation=NodeAllocation((3,), (1,)))
    for check in checked(traced[:1], rows, other, on_fat):
        assert check.violations == []


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
    at = replayed([TracedJob(traced, 10)], [record], system=SITE, partitions=DECLARED)
    check = descriptions(audited(at, run=RunDirectory.open(run.path)))
    assert check is not None
    return check


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
            "suspended": False, "run_time": 5, "lost_time": 5,
        }
        for job_id, requeued, units, request, nodes, on_each in lost
    ]  # fmt: skip
    table = pa.Table.from_pylist(rows, schema=interruptions_schema(SYSTEM))
    pq.write_table(table, run.path / INTERRUPTIONS)
    traced = [TracedJob(Job(k, 0, Request(3, (2,)), 20), 10) for k, _ in jobs]
    place = NodeAllocation((1, 2), (2, 1))
    records = [
        JobRecord(one.job, 6, 20, state, 0, 5, place)
        for one, (_, state) in zip(traced, jobs, strict=True)
    ]
    at = replayed(traced, records, system=SITE)
    at.lost = read_lost(run, SITE)
    check = lost_requests(at)
    assert check is not None
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
        "job 1: units of a lost attempt: expected 3, found 4",
        "job 1: unit_request of core of a lost attempt: expected 2, found 1",
        "job 2: nodes and units: expected [(1, 2), (2, 1)], found [(1, 1), (2, 2)]",
        "job 3: nodes and units: expected [(1, 2), (2, 1)], found [(1, 2), (0, 1)]",
        "job 4: nodes and units: expected None, found [(1, 2), (2, 1)]",
    ]
