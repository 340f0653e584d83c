"""The checks of outages, of rows made by hand: where jobs ran, what was lost, and what is told."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from hpcsched.audit.outage_checks import (
    announced,
    losses,
    losses_of_jobs,
    outage_figures,
    recorded_outages,
    service,
)
from hpcsched.audit.violations import Check
from hpcsched.runs.columns import outages_schema
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.workload.job import TracedJob
from tests.runs.columns_by_hand import audited, seen
from tests.runs.hand_made import SYSTEM, job, replayed, row, write_run

SERVICE, ANNOUNCED, LOST, COUNTS = range(4)

# Nodes 1 and 2 are serviced from 10 to 20, node 1 again from 40 to 50; node 2 fails at 30 for 5 s.
OUTAGES = Outages(
    (
        Outage(10, 20, (1, 2), "maintenance"),
        Outage(30, 35, (2,), "failure"),
        Outage(40, 50, (1,), "reservation", "course"),
    )
)

Attempt = tuple[int, int, int, bool, list[int]]
"""A lost attempt: job, start, end, whether it was tried again, and its nodes."""


def lost_attempts(jobs: Sequence[TracedJob], attempts: Sequence[Attempt]) -> list[Interruption]:
    """Return lost attempts of jobs, or of a job of one unit, with a unit on each node."""
    known = {one.job.job_id: one.job for one in jobs}
    return [
        Interruption(
            known.get(job_id, job(job_id, 0, 1, (1, 1, 0), 5).job),
            start,
            end,
            NodeAllocation(tuple(nodes), (1,) * len(nodes)),
            again,
        )
        for job_id, start, end, again, nodes in attempts
    ]


def checked(
    traced: list[TracedJob], rows: list[JobRecord], *lost: Attempt, outages: Outages = OUTAGES
) -> list[Check]:
    """Return the four checks of jobs that ran and attempts that were lost."""
    at = replayed(traced, rows, *lost_attempts(traced, lost), outages=outages)
    checks = [rule(at) for rule in (service, announced, losses, losses_of_jobs)]
    return [check for check in checks if check is not None]


def placed(run_time: int, start: int, *nodes: int, **changed: Any) -> list[Check]:
    """Return the checks of job 1, which ran on some nodes and was predicted to take 1 s."""
    traced = job(1, 0, len(nodes), (1, 1, 0), run_time)
    at = row(traced, start, dict.fromkeys(nodes, 1), **{"predicted_run_time": 1, **changed})
    checks = checked([traced], [at])
    assert checks[SERVICE].looked_at == checks[ANNOUNCED].looked_at == len(nodes)
    return checks


@pytest.mark.parametrize(
    ("start", "end", "nodes", "found"),
    [
        (0, 100, (0, 3), None),
        (0, 10, (1, 2), None),
        (9, 10, (1,), None),
        (9, 9, (1,), None),
        (0, 11, (0, 1), "thin-1 is out of service from 10 to 20"),
        (19, 25, (1,), "thin-1 is out of service from 10 to 20"),
        (10, 10, (1,), "thin-1 is out of service from 10 to 20"),
        (12, 15, (2,), "thin-2 is out of service from 10 to 20"),
        (20, 40, (1,), None),
        (20, 31, (1, 2), "thin-2 is out of service from 30 to 35"),
        (35, 50, (2,), None),
        (50, 90, (1,), None),
        # Of several times that a job runs into, the last is told.
        (5, 45, (1,), "thin-1 is out of service from 40 to 50"),
    ],
)
def test_service(start: int, end: int, nodes: tuple[int, ...], found: str | None) -> None:
    """Outages begin with their first second and end before their last; so do jobs.

    A job of no length must find its node in service.
    """
    checks = placed(end - start, start, *nodes)
    expected = [f"job 1, from {start} to {end}: node {found}"] if found else []
    assert checks[SERVICE].violations == expected


@pytest.mark.parametrize(
    ("start", "predicted", "nodes", "announced"),
    [
        (0, 10, (0, 1), None),
        (0, 11, (0, 1), ("thin-1", 10)),
        (20, 11, (2,), None),  # nobody knows of the failure
        (20, 21, (1,), ("thin-1", 40)),
        (50, 99, (1,), None),
        # What starts as the node goes runs on a node out of service: that is told by itself.
        (10, 5, (1,), None),
    ],
)
def test_announced(
    start: int, predicted: int, nodes: tuple[int, ...], announced: tuple[str, int] | None
) -> None:
    """A job may be predicted to end as an announced outage begins, and no later."""
    found = placed(0, start, *nodes, predicted_run_time=predicted)[ANNOUNCED].violations
    expected = []
    if announced is not None:
        node, at = announced
        expected = [
            f"job 1, started at {start} and predicted to end at {start + predicted}: an outage of"
            f" node {node} was announced for {at}"
        ]
    assert found == expected


def test_jobs_that_did_not_run_are_not_looked_at() -> None:
    """Places of a job without times are found elsewhere."""
    traced = job(1, 0, 1, (1, 1, 0), 5)
    checks = checked([traced], [row(traced, 12, {1: 1}, end_time=None)])
    assert [check.looked_at for check in checks[:LOST]] == [0, 0]
    assert not any(check.violations for check in checks[:LOST])


def test_no_outages() -> None:
    """Then no attempt was lost, and nothing else is checked."""
    traced = job(1, 0, 1, (1, 1, 0), 5)
    (check,) = checked([traced], [row(traced, 12, {1: 1})], outages=NO_OUTAGES)
    assert check.violations == []
    (check,) = checked([traced], [row(traced, 12, {1: 1}, requeues=1)], outages=NO_OUTAGES)
    assert check.violations == ["job 1: requeues: expected 0, found 1"]


def attempted(*lost: Attempt, requeue: bool = True, **values: Any) -> list[list[str]]:
    """Return what is found of job 1, which takes 30 s from 50 on, after attempts were lost."""
    traced = job(1, 0, 2, (1, 1, 0), 30)
    rows = [row(traced, 50, {0: 1, 3: 1}, predicted_run_time=1, **values)]
    checks = checked([traced], rows, *lost, outages=OUTAGES._replace(requeue=requeue))
    assert checks[LOST].looked_at == len(lost)
    assert checks[LOST].claim == "attempts are lost only as a node goes out of service"
    return [check.violations for check in checks[LOST:]]


NOT_GONE = "job {}: lost at {}, when none of its nodes went out of service"
NOT_RUNNING = "job {}: lost at {}, when it had ended, or not begun"


@pytest.mark.parametrize(
    ("attempt", "found"),
    [
        ((1, 0, 10, True, [0, 1]), []),
        ((1, 0, 10, True, [1, 0]), []),
        ((1, 10, 10, True, [2, 3]), []),
        ((1, 0, 10, True, [0, 3]), [NOT_GONE.format(1, 10)]),
        ((1, 0, 9, True, [0, 1]), [NOT_GONE.format(1, 9)]),
        ((1, 20, 30, True, [0, 1]), [NOT_GONE.format(1, 30)]),
        ((1, 1, 30, True, [0, 2]), []),
        ((1, 0, 30, True, [0, 2]), [NOT_RUNNING.format(1, 30)]),
        ((1, 31, 30, True, [0, 2]), [NOT_RUNNING.format(1, 30)]),
        ((7, 0, 10, True, [1]), []),  # how long it takes is not known: it is not in the trace
    ],
)
def test_lost(attempt: Attempt, found: list[str]) -> None:
    """A node goes as the attempt ends, which would have taken 30 s in all."""
    again = attempt[0] == 1
    values = {"requeues": int(again), "lost_time": attempt[2] - attempt[1] if again else 0}
    assert attempted(attempt, **values)[0] == found


def test_each_attempt_has_its_own_nodes() -> None:
    """Node 1 goes at 10, and node 2 too, which fails at 30: the second attempt lacks it."""
    attempts = (1, 0, 10, True, [1]), (1, 20, 30, True, [0]), (1, 21, 30, True, [2])
    found = attempted(*attempts, requeues=3, lost_time=10 + 10 + 9)
    assert found == [[NOT_GONE.format(1, 30)], []]


def test_requeues_and_lost_times_add_up() -> None:
    """Two attempts of 10 and 7 s were lost; that of another job does not count."""
    attempts = (1, 0, 10, True, [1]), (1, 23, 30, True, [2]), (7, 0, 10, True, [1])
    assert attempted(*attempts, requeues=2, lost_time=17) == [[], []]
    assert attempted(*attempts, requeues=3, lost_time=16) == [
        [],
        ["job 1: requeues: expected 2, found 3", "job 1: lost_time: expected 17, found 16"],
    ]


def test_failed_jobs() -> None:
    """Where nothing is tried again, an attempt that was lost is that of a failed job."""
    lost = (1, 0, 10, False, [1])
    failed = {"state": "failed", "start_time": 0, "end_time": 10}
    assert attempted(lost, requeue=False, **failed) == [[], []]
    failures = "failed jobs, with start and end: expected"
    assert attempted(lost, requeue=False)[1] == [f"{failures} [(1, 0, 10)], found []"]
    assert attempted(requeue=False, **failed)[1] == [f"{failures} [], found [(1, 0, 10)]"]
    assert attempted(lost, **failed)[1] == [
        "attempts that were not tried again: expected 0, found 1"
    ]
    again = attempted((1, 0, 10, True, [1]), requeue=False, requeues=1, lost_time=10)
    assert again[1] == ["attempts that were tried again: expected 0, found 1"]


def summary_of(**changed: Any) -> dict[str, Any]:
    """Return what the summary says of two attempts of 10 and 7 s, of which one was requeued.

    Job 1 has two units of 2 cores and 3 mem, and job 2 three of 1 core; 1 and 2 are on two nodes
    and one. Nodes 1 and 2 are serviced for 20 s in all.
    """
    figures: dict[str, Any] = {
        "interruptions": 2,
        "requeued": 1,
        "lost_time": 17,
        "lost_node_seconds": 10 * 2 + 7,
        "lost_amounts": {"core": 10 * 4 + 7 * 3, "mem": 10 * 6, "gpu": 0},
        "node_seconds_down": {"maintenance": 20, "failure": 5, "reservation": 10},
    }
    return figures | changed


def figures_found(
    folder: Path, stated: dict[str, Any] | None, *, recorded: bool = True
) -> tuple[list[str], int] | None:
    """Return what is found of the figures, and how many were looked at; None without a check."""
    traced = [job(1, 0, 2, (2, 3, 0), 30), job(2, 0, 3, (1, 0, 0), 30)]
    rows = [row(one, 50, {0: one.job.units}) for one in traced]
    lost = lost_attempts(traced, [(1, 0, 10, True, [0, 1]), (2, 23, 30, False, [2])])
    if recorded:
        (folder / "outages.parquet").touch()
    run = SimpleNamespace(summary={} if stated is None else {"outages": stated}, path=folder)
    at = replayed(traced, rows, *lost, outages=OUTAGES)
    check = outage_figures(audited(at, run=run))
    return None if check is None else (check.violations, check.looked_at)


def test_figures(tmp_path: Path) -> None:
    """Each is worked out again; that they are there counts as one more."""
    assert figures_found(tmp_path, summary_of()) == ([], 7)
    for key, value in summary_of().items():
        found = figures_found(tmp_path, summary_of(**{key: None}))
        assert found == ([f"outages.{key}: expected {value}, found None"], 7)


def test_figures_beside_the_file(tmp_path: Path) -> None:
    """They are there just where `outages.parquet` is."""
    beside = "outages: figures beside the file"
    assert figures_found(tmp_path, None, recorded=False) is None
    assert figures_found(tmp_path, summary_of(), recorded=False) == (
        [f"{beside}: expected False, found True"],
        7,
    )
    found = figures_found(tmp_path, None)
    assert found is not None
    assert found[0][:2] == [
        f"{beside}: expected True, found False",
        "outages.interruptions: expected 2, found None",
    ]


def test_recorded_outages(tmp_path: Path) -> None:
    """The file has what the scenario declares, and is not there where it declares none."""
    run = write_run(tmp_path / "run")

    def found(outages: Outages) -> Check | None:
        return recorded_outages(audited(seen(SYSTEM, [], outages=outages), run=run))

    assert found(NO_OUTAGES) is None
    schema = outages_schema()
    rows = [outage._asdict() for outage in OUTAGES.all]
    rows = [{**row, "start_time": row["start"], "end_time": row["end"]} for row in rows]
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), run.path / "outages.parquet")
    check = found(OUTAGES)
    assert check is not None
    assert (check.violations, check.looked_at) == ([], 4)
    check = found(NO_OUTAGES)
    assert check is not None
    assert check.violations == ["outages: expected 0, found 3"]
