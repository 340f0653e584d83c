"""The checks of partitions, of rows made by hand: to which jobs belong, and what these may hold."""

from typing import Any

import pytest

from hpcsched.audit.columns import read_trace
from hpcsched.audit.partitions import check_partitions, partition_of
from hpcsched.audit.violations import Check
from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.workload.job import TracedJob
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partition, Partitions
from tests.runs.hand_made import SYSTEM, job, row, trace_and_run

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
    assert partition_of(read_trace(jobs, SYSTEM), partitions).tolist() == places


def checked(traced: list[TracedJob], rows: list[JobRecord], *partitions: Partition) -> list[Check]:
    """Return the checks of what was refused, of nodes, and of users."""
    trace, run, match = trace_and_run(traced, rows)
    return list(check_partitions(trace, run, match, SYSTEM, Partitions(partitions)))


def refusal(traced: TracedJob, by: str, *partitions: Partition) -> list[str]:
    """Return what is found of a job that was refused by something, or by nothing."""
    at = row(traced, None, rejected_by=by) if by else row(traced, 0, {3: traced.job.units})
    check = checked([traced], [at], *partitions)[0]
    assert check.looked_at == 1
    return check.violations


TIME, SIZE, NODES = "over_partition_time", "larger_than_partition", "over_nodes_per_user"
ON_THIN = Partition("thin", groups=THIN)
TWO_NODES = Partition("two", nodes_per_user=2)


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
        (small(units=9), Partition("three", groups=THIN, nodes_per_user=3), ""),
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
    trace, run, match = trace_and_run([small()], [row(small(), 0, {0: 1})])
    assert list(check_partitions(trace, run, match, SYSTEM, NO_PARTITIONS)) == []


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


ONE_JOB = Partition("one", running_jobs_per_user=1)


@pytest.mark.parametrize(
    ("jobs", "found"),
    [
        # One job after another, and jobs of others beside them.
        ([(7, 0, 10, 1), (7, 10, 20, 1), (8, 0, 20, 1)], []),
        ([(7, 0, 10, 1), (7, 9, 20, 1)], ["second 9, user 7: expected at most 1, found 2"]),
        ([(7, 0, 10, 1), (7, 5, 5, 1), (7, 10, 10, 1)], []),
        ([(0, 0, 10, 1), (0, 9, 20, 1)], ["second 9, user 0: expected at most 1, found 2"]),
        ([(7, 0, 10, 1), (7, 1, 20, 1)], ["second 1, user 7: expected at most 1, found 2"]),
        # User 8 begins with two jobs as user 7 ends.
        (
            [(7, 0, 10, 1), (8, 10, 20, 1), (8, 10, 20, 1)],
            ["second 10, user 8: expected at most 1, found 2"],
        ),
        # Jobs of unknown users may be anybody's, and are not counted as those of users 0 or 1.
        ([(None, 0, 10, 1), (None, 0, 10, 1), (0, 0, 10, 1), (1, 0, 10, 1)], []),
    ],
)
def test_running_jobs(jobs: list[tuple[int | None, int, int, int]], found: list[str]) -> None:
    """A user may run one job at a time."""
    check = checked(*of_users(*jobs), ONE_JOB)[2]
    expected = [f"partition one: running_jobs_per_user: {text}" for text in found]
    assert check.violations == expected
    assert check.count == len(expected)


def test_nodes_of_a_user_and_of_nobody() -> None:
    """Jobs of 2, 1 and 3 nodes, where a user may have two nodes at a time."""
    jobs = of_users((7, 0, 10, 2), (7, 4, 8, 1), (None, 5, 9, 3))
    check = checked(*jobs, TWO_NODES)[2]
    assert check.violations == [
        "partition two: nodes_per_user: second 5, a job of an unknown user: expected at most 2,"
        " found 3",
        "partition two: nodes_per_user: second 4, user 7: expected at most 2, found 3",
    ]
    assert check.looked_at == 2 + 4


def test_each_partition_and_limit_by_itself() -> None:
    """A user may run one job in each of two queues; both limits of each are looked at."""
    traced, rows = of_users((7, 0, 10, 1), (7, 5, 15, 1), (7, 5, 15, 2))
    queues = [
        one._replace(job=one.job._replace(queue=k))
        for one, k in zip(traced, (1, 2, 3), strict=True)
    ]
    partitions = [
        Partition(
            f"queue {k}", {"queue": frozenset({k})}, nodes_per_user=2, running_jobs_per_user=1
        )
        for k in (1, 2, 4)
    ]
    check = checked(queues, rows, *partitions)[2]
    assert (check.violations, check.looked_at) == ([], 2 * 2 * 2)


def test_jobs_that_are_not_in_the_trace() -> None:
    """They belong to no partition and to nobody; other checks tell of them."""
    traced, rows = of_users((7, 0, 10, 1), (7, 0, 10, 1), (7, 0, 10, 1))
    other = Partition("other", {"queue": frozenset({1})}, THIN, running_jobs_per_user=1)
    on_fat = Partition("fat", groups=FAT, running_jobs_per_user=1)
    rows[0] = rows[0]._replace(allocation=NodeAllocation((3,), (1,)))
    for check in checked(traced[:1], rows, other, on_fat):
        assert check.violations == []
