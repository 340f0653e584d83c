"""Outages in a run directory: what is recorded, and an audit that finds what is not kept."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.errors import InputError
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.run_result import RunResult
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from tests.runs.hand_made import messages, tamper_json

Rows = list[dict[str, Any]]

SITE = """\
name: site
system: {groups: [{name: node, count: 2, resources: {core: 2}}]}
outages:
  maintenance: [{name: weekly, start: 40, duration: 10}]
  reservations: [{name: course, nodes: [node-1], start: 60, duration: 10}]
  failure_log: failures.csv
trace: {source: swf, path: jobs.swf, unit: {core: 2}}
dispatcher: easy
observers: [reasons, event-log]
"""
FAILURES = "node,from,until\nnode-0,5,8\n"
# Job, submit time, run time, processors.
JOBS = ((1, 0, 10, 2), (2, 1, 4, 1), (3, 6, 3, 1), (4, 12, 30, 1), (5, 20, 15, 1))


@pytest.fixture(name="site")
def _site(tmp_path: Path) -> Path:
    """Return a scenario of two nodes and five jobs, all of whose predictions are right."""
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "failures.csv").write_text(FAILURES)
    lines = [
        f"{k} {submit} -1 {time} {n} -1 -1 {n} {time} -1 1 1 1 1 1 1 -1 -1"
        for k, submit, time, n in JOBS
    ]
    (tmp_path / "jobs.swf").write_text("; Version: 2.2\n" + "\n".join(lines) + "\n")
    return tmp_path / "site.yaml"


def finished(site: Path) -> RunResult:
    """Run the scenario."""
    return run(load_scenario(site), site.parent / "run")


def test_by_hand(site: Path) -> None:
    """Five jobs, two nodes, a failure, maintenance and a course.

    Job 1 has both nodes at 0 and loses node 0 at 5; job 2 has node 1 from 5 to 9. Both nodes are
    job 1's again from 9 to 19. Job 3, which came at 6, follows at 19. Job 4 would take until 49,
    and both nodes are serviced from 40 on: it waits until 50, and then has node 0, as node 1 would
    be the course's at 60. Job 5 has node 1 from 20 to 35.
    """
    result = finished(site)
    rows = {row["job_id"]: row for row in result.jobs.to_pylist()}
    starts = {k: row["start_time"] for k, row in sorted(rows.items())}
    assert starts == {1: 9, 2: 5, 3: 19, 4: 50, 5: 20}
    assert (rows[1]["requeues"], rows[1]["lost_time"]) == (1, 5)
    assert {(row["requeues"], row["lost_time"]) for k, row in rows.items() if k > 1} == {(0, 0)}
    assert rows[4]["nodes"] == [0] and rows[4]["allowed_nodes"] is None
    lost = pq.read_table(result.directory.path / "interruptions.parquet").to_pylist()
    assert lost == [
        {
            "job_id": 1, "start_time": 0, "end_time": 5, "requeued": True, "suspended": False,
            "preempted_by": None, "run_time": 5, "lost_time": 5,
            "units": 2, "unit_request": [2], "nodes": [0, 1], "node_units": [1, 1],
        }
    ]  # fmt: skip
    recorded = pq.read_table(result.directory.path / "outages.parquet").to_pylist()
    assert [
        (row["start_time"], row["end_time"], row["nodes"], row["name"]) for row in recorded
    ] == [
        (5, 8, [0], ""),
        (40, 50, [0, 1], "weekly"),
        (60, 70, [1], "course"),
    ]
    text = (result.directory.path / "events.jsonl").read_text(encoding="utf-8")
    events = [json.loads(line) for line in text.splitlines()]
    assert {"time": 5, "event": "interrupted", "job_id": 1, "requeued": True} in events


def test_figures_by_hand(site: Path) -> None:
    """Capacity is less by what is down: 4 cores × 80 s, less 3 × 2, 10 × 4 and 10 × 2."""
    summary = finished(site).summary
    used = 10 * 4 + 4 * 2 + 3 * 2 + 30 * 2 + 15 * 2
    assert summary["metrics"]["makespan"] == 80
    assert summary["metrics"]["utilization"] == pytest.approx(used / (320 - 6 - 40 - 20))
    assert summary["outages"] == {
        "interruptions": 1,
        "requeued": 1,
        "lost_time": 5,
        "lost_node_seconds": 10,
        "lost_amounts": {"core": 20},
        "node_seconds_down": {"failure": 3, "maintenance": 20, "reservation": 10},
    }
    # Free while waited for: node 0 from 8 to 9, by jobs 1 and 3; then, by job 4, a node from 19 to
    # 20 and from 22 to 35, and of both nodes what it asks for until 40.
    lost = 2 * (9 - 8) + 2 * (20 - 19) + 2 * (35 - 22) + 2 * (40 - 35)
    assert summary["metrics"]["loss_of_capacity"] == pytest.approx(lost / 254)


def test_the_audit_agrees(site: Path) -> None:
    """Every check looks at something, and nothing is found."""
    report = audit_directory(finished(site).directory)
    assert report.ok, messages(report)
    assert all(check.looked_at for check in report.checks)


def test_without_requeueing(site: Path) -> None:
    """A job that lost its node has failed, and the account says so."""
    site.write_text(SITE.replace("failure_log:", "requeue: false\n  failure_log:"))
    result = finished(site)
    jobs = result.summary["jobs"]
    assert (jobs["submitted"], jobs["completed"], jobs["failed"]) == (5, 4, 1)
    assert result.summary["outages"]["requeued"] == 0
    report = audit_directory(result.directory)
    assert report.ok, messages(report)


def _change(name: str, change: Callable[[Rows], Any]) -> Callable[[Path], None]:
    def tamper(folder: Path) -> None:
        table = pq.read_table(folder / name)
        rows = table.to_pylist()
        change(rows)
        pq.write_table(table.from_pylist(rows, schema=table.schema), folder / name)

    return tamper


def _row(rows: Rows, job_id: int) -> dict[str, Any]:
    return next(row for row in rows if row["job_id"] == job_id)


def _summary(folder: Path) -> None:
    tamper_json(folder / "summary.json", lambda content: content["outages"].update(lost_time=4))


@pytest.mark.parametrize(
    ("tamper", "message"),
    [
        (
            _change("jobs.parquet", lambda rows: _row(rows, 4).update(start_time=45, end_time=75)),
            "job 4, from 45 to 75: node node-0 is out of service from 40 to 50",
        ),
        (
            _change("jobs.parquet", lambda rows: _row(rows, 4).update(nodes=[1])),
            "job 4, from 50 to 80: node node-1 is out of service from 60 to 70",
        ),
        (
            _change(
                "jobs.parquet",
                lambda rows: _row(rows, 5).update(predicted_run_time=25),
            ),
            "job 5, started at 20 and predicted to end at 45: an outage of node node-1 was"
            " announced for 40",
        ),
        (
            _change("jobs.parquet", lambda rows: _row(rows, 2).update(requeues=1)),
            "job 2: requeues: expected 0, found 1",
        ),
        (
            _change("jobs.parquet", lambda rows: _row(rows, 1).update(lost_time=4)),
            "job 1: lost_time: expected 5, found 4",
        ),
        (
            _change("jobs.parquet", lambda rows: _row(rows, 5).update(state="failed")),
            "failed jobs, with start and end: expected [], found [(5, 20, 35)]",
        ),
        (
            _change("interruptions.parquet", lambda rows: rows.clear()),
            "job 1: requeues: expected 0, found 1",
        ),
        (
            _change("interruptions.parquet", lambda rows: rows[0].update(end_time=4)),
            "job 1: lost at 4, when none of its nodes went out of service",
        ),
        (
            _change("interruptions.parquet", lambda rows: rows[0].update(requeued=False)),
            "attempts that were not tried again: expected 0, found 1",
        ),
        (
            _change("interruptions.parquet", lambda rows: rows[0].update(start_time=-6)),
            "job 1: lost at 5, when it had ended, or not begun",
        ),
        (
            _change("outages.parquet", lambda rows: rows[0].update(end_time=7)),
            "an outage: expected (5, 8, (0,), 'failure', ''), found (5, 7, (0,), 'failure', '')",
        ),
        (_summary, "outages.lost_time: expected 5, found 4"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_found(site: Path, tamper: Callable[[Path], None], message: str) -> None:
    """The auditor names the job, the node and the times."""
    folder = finished(site).directory.path
    tamper(folder)
    assert message in messages(audit_directory(RunDirectory.open(folder)))


def test_damage(site: Path) -> None:
    """A file that is gone or not what it was is an error, not a finding."""
    folder = finished(site).directory.path
    (folder / "interruptions.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match="it is damaged"):
        audit_directory(RunDirectory.open(folder))
    (folder / "interruptions.parquet").unlink()
    (folder / "outages.parquet").unlink()
    with pytest.raises(InputError, match=r"outages.parquet: error: it is missing"):
        audit_directory(RunDirectory.open(folder))


def test_drawn_failures_are_the_same_again(site: Path) -> None:
    """The seed of the scenario decides; equal runs give equal bytes."""
    failing = SITE.replace(
        "failure_log: failures.csv",
        "failures: [{mean_up_time: 20, mean_repair_time: 3, end: 200}]",
    )
    site.write_text(failing)
    names = ("jobs.parquet", "outages.parquet", "interruptions.parquet", "summary.json")
    first = run(load_scenario(site), site.parent / "first").directory
    again = run(load_scenario(site), site.parent / "again").directory
    for name in names:
        assert (first.path / name).read_bytes() == (again.path / name).read_bytes()
    assert first.summary["outages"]["interruptions"] > 0
    report = audit_directory(first)
    assert report.ok, messages(report)
    site.write_text(failing.replace("name: site", "name: site\nseed: 1", 1))
    other = run(load_scenario(site), site.parent / "other").directory
    assert other.summary["outages"] != first.summary["outages"]
