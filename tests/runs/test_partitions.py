"""Partitions in a run directory: its account, and an audit that finds what breaks a limit."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hpcsched.audit.auditing import audit_directory
from hpcsched.audit.violations import AuditReport
from hpcsched.runs.assembly import assemble, parts_of
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import Scenario, load_scenario
from tests.runs.hand_made import messages, tamper_jobs, tamper_json

Rows = list[dict[str, Any]]

SITE = """\
name: site
system:
  groups:
    - {name: thin, count: 3, resources: {core: 2}}
    - {name: fat, count: 1, resources: {core: 4}}
partitions:
  - {name: short, jobs: {queue: [1]}, groups: [thin], max_time: 100, limits: {per_user: {jobs: 1}}}
  - {name: long, jobs: {queue: [2]}, limits: {per_user: {nodes: 2}}}
trace: {source: swf, path: jobs.swf, unit: {core: 1}}
dispatcher: easy
"""
# Job, submit time, run time, processors, requested time, user, queue.
JOBS = (
    (1, 0, 50, 2, 100, 7, 1),
    (2, 0, 50, 2, 100, 7, 1),  # waits for job 1: one at a time
    (3, 5, 50, 1, 200, 7, 1),  # requests too much time
    (4, 5, 50, 8, 100, 7, 1),  # larger than the thin nodes
    (5, 10, 90, 2, 500, 8, 2),
    (6, 20, 30, 1, 500, 8, 2),
    (7, 30, 10, 3, 500, 8, 2),  # might take three nodes
    (8, 40, 10, 1, 500, 8, 9),  # in no partition
    (9, 45, 10, 1, 500, 9, 2),
)


@pytest.fixture
def site(tmp_path: Path) -> Scenario:
    """Return a small site with nine jobs."""
    (tmp_path / "site.yaml").write_text(SITE)
    lines = [
        f"{k} {submit} -1 {time} {n} -1 -1 {n} {limit} -1 1 {user} 1 1 {queue} 1 -1 -1"
        for k, submit, time, n, limit, user, queue in JOBS
    ]
    (tmp_path / "jobs.swf").write_text("; Version: 2.2\n" + "\n".join(lines) + "\n")
    return load_scenario(tmp_path / "site.yaml")


NAMED = SITE.replace("queue: [1]", "partition: [short]").replace("queue: [2]", "queue: [normal]")
NAMED = NAMED.replace("swf, path: jobs.swf, unit: {core: 1}", "slurm-sacct, path: jobs.txt")


def test_partitions_that_claim_by_name(tmp_path: Path) -> None:
    """The auditor finds the partition of a job by its name too, on its own."""
    rows = ["JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|Partition|QOS|User"]
    for k, submit, time, n, limit, user, queue in JOBS:
        names = {1: "short|normal", 2: "long|normal", 9: "long|other"}[queue]
        nodes = min(n, 4)  # job 4 needs one more than there are thin ones
        rows.append(f"{k}|{submit}|0|{time}|00:00:{limit}|{nodes}|{n}|{names}|{user}")
    (tmp_path / "jobs.txt").write_text("\n".join(rows))
    (tmp_path / "site.yaml").write_text(NAMED)
    scenario = load_scenario(tmp_path / "site.yaml")
    result = run(scenario, tmp_path / "run")
    rows_left = result.directory.all_jobs.read("job_id", "rejected_by").to_pylist()
    assert {row["job_id"]: row["rejected_by"] for row in rows_left if row["rejected_by"]} == {
        3: "over_partition_time",
        4: "larger_than_partition",
        7: "over_limit",
        8: "no_partition",
    }
    report = audited(tmp_path / "run")
    assert report.ok, messages(report)
    assert all(check.looked_at for check in report.checks)


def audited(folder: Path) -> AuditReport:
    """Audit a run as `hpcsched verify` does."""
    return audit_directory(RunDirectory.open(folder))


def test_every_job_is_accounted_for(site: Scenario, tmp_path: Path) -> None:
    """The summary counts what was refused by what refused it, and the audit agrees."""
    result = run(site, tmp_path / "run")
    jobs = result.summary["jobs"]
    assert jobs["rejected_by"] == {
        "larger_than_partition": 1,
        "no_partition": 1,
        "over_limit": 1,
        "over_partition_time": 1,
    }
    assert (jobs["submitted"], jobs["completed"], jobs["rejected"]) == (9, 5, 4)
    rows = {row["job_id"]: row for row in result.directory.all_jobs.read(
        "job_id", "start_time", "rejected_by", "node_groups").to_pylist()}  # fmt: skip
    starts = {k: row["start_time"] for k, row in rows.items()}
    none = {3: None, 4: None, 7: None, 8: None}
    assert starts == {1: 0, 2: 50, 5: 10, 6: 20, 9: 45, **none}
    assert rows[1]["node_groups"] == ["thin"] and rows[1]["rejected_by"] is None
    report = audited(tmp_path / "run")
    assert report.ok, messages(report)
    assert all(check.looked_at for check in report.checks)


def _start_beside(rows: Rows) -> None:
    _row(rows, 2).update(start_time=20, end_time=70, nodes=[1], node_units=[2])


def _leave_group(rows: Rows) -> None:
    _row(rows, 1).update(nodes=[3])


def _not_refused(rows: Rows) -> None:
    _row(rows, 3).update(
        state="completed", rejected_by=None, start_time=100, end_time=150, run_time=50,
        nodes=[0], node_units=[1],
    )  # fmt: skip


def _refused(rows: Rows) -> None:
    _row(rows, 9).update(
        state="rejected", rejected_by="no_partition", start_time=None, end_time=None,
        run_time=None, nodes=None, node_units=None,
    )  # fmt: skip


def _refused_by_the_dispatcher(rows: Rows) -> None:
    _row(rows, 8)["rejected_by"] = "dispatcher"


def _unsaid(rows: Rows) -> None:
    _row(rows, 8)["rejected_by"] = None


def _row(rows: Rows, job_id: int) -> dict[str, Any]:
    return next(row for row in rows if row["job_id"] == job_id)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_start_beside, "second 20: partition short: MaxJobsPerUser=1: expected at most 1"),
        (_leave_group, "job 1: partition short: expected a node of thin, found fat-0"),
        (_not_refused, "job 3: rejected_by: expected over_partition_time, found nothing"),
        (_refused, "job 9: rejected_by: expected nothing, found no_partition"),
        (_refused_by_the_dispatcher, "job 8: rejected_by: expected no_partition, found dispatcher"),
        (_unsaid, "job 8: expected rejected_by of rejected jobs alone"),
    ],
)
def test_what_breaks_a_partition_is_found(
    change: Callable[[Rows], None], message: str, site: Scenario, tmp_path: Path
) -> None:
    """A run that was tampered with is told apart, with job, partition and limit."""
    result = run(site, tmp_path / "run")
    tamper_jobs(result.directory, change)
    assert message in messages(audited(tmp_path / "run"))


def test_a_wrong_account_is_found(site: Scenario, tmp_path: Path) -> None:
    """The counts of rejected jobs must be those of the table."""
    run(site, tmp_path / "run")
    tamper_json(
        tmp_path / "run" / "summary.json",
        lambda summary: summary["jobs"]["rejected_by"].update(no_partition=2),
    )
    assert "jobs rejected_by: expected" in messages(audited(tmp_path / "run"))


def test_aggregation_is_left_out_where_nodes_are_bound(site: Scenario) -> None:
    """Units that may not go everywhere are not counted together; others are."""
    bound = assemble(site)
    assert bound.source.uniform_request == (1,)
    assert parts_of(bound, []).uniform_request is None
    free = [p.model_copy(update={"groups": None}) for p in site.partitions]
    anywhere = site.model_copy(update={"partitions": tuple(free)})
    assert parts_of(assemble(anywhere), []).uniform_request == (1,)


def test_equal_runs_give_equal_bytes(site: Scenario, tmp_path: Path) -> None:
    """Jobs and summary, apart from real time, do not differ between two runs."""
    one, two = (run(site, tmp_path / name) for name in ("one", "two"))
    files = [(r.directory.path / "jobs.parquet").read_bytes() for r in (one, two)]
    assert files[0] == files[1]
    assert one.summary["metrics"] == two.summary["metrics"]
