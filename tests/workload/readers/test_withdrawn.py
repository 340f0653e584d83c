"""Jobs that were withdrawn while they waited, as each source reads them and as replays treat them.

The logs have a job of user 1 that ran 600 s, then one of the same user and one of user 2 that were
withdrawn, 1,800 s after their submission, and requested 7,200 s.
"""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hpcsched
from hpcsched.cli import main
from tests.workload.readers.accounting_log_files import HEADER, pbs_record, sacct_row

SWF = """\
1 0 0 600 4 -1 -1 4 7200 -1 1 1 -1 -1 -1 -1 -1 -1
2 100 1800 -1 -1 -1 -1 4 7200 -1 5 1 -1 -1 -1 -1 -1 -1
3 100 1800 0 0 -1 -1 4 7200 -1 5 2 -1 -1 -1 -1 -1 -1
4 100 1800 0 4 -1 -1 4 7200 -1 5 2 -1 -1 -1 -1 -1 -1
5 100 1800 -1 -1 -1 -1 4 -1 -1 5 2 -1 -1 -1 -1 -1 -1
"""
TABLE = """\
job_id,submit_time,start_time,end_time,requested_time,units,user
1,0,0,600,7200,4,1
2,100,,1900,7200,4,1
3,100,,1900,7200,4,2
"""
SACCT = "\n".join([
    HEADER + "|Eligible",
    sacct_row("1", Start="2024-03-01T10:00:00", End="2024-03-01T10:10:00") + "|Unknown",
    *(
        sacct_row(
            number, User=user, Start="Unknown", End="2024-03-01T10:30:00", State="CANCELLED by 7"
        )
        + "|2024-03-01T10:20:00"
        for number, user in (("2", "alice"), ("3", "bob"))
    ),
    sacct_row("4", Start="Unknown", State="PENDING", End="Unknown") + "|Unknown",
])  # fmt: skip
PBS = "\n".join([
    pbs_record("1.srv", ctime="1709280000", start="1709280000", end="1709280600"),
    *(
        pbs_record(number, ctime="1709280000", start="0", end="1709281800", user=user)
        for number, user in (("2.srv", "alice"), ("3.srv", "bob"))
    ),
])  # fmt: skip
LOGS = {
    "swf": ("jobs.swf", SWF, ""),
    "table": ("jobs.csv", TABLE, ""),
    "slurm-sacct": ("jobs.txt", SACCT, ", time_zone: UTC"),
    "pbs-accounting": ("jobs.pbs", PBS, ", missing_memory: zero"),
}


def scenario_of(
    folder: Path, source: str, more: str, content: str | None = None
) -> hpcsched.Scenario:
    """Return a scenario of a log on one node that runs all of its jobs one by one."""
    name, usual, own = LOGS[source]
    (folder / name).write_text(content or usual)
    path = folder / "scenario.yaml"
    cores = 16 if source in ("slurm-sacct", "pbs-accounting") else 4
    path.write_text(
        "name: leaving\nsystem: {groups: [{name: node, count: 1, resources:"
        f" {{core: {cores}, mem: 64GiB}}}}]}}\n"
        f"trace: {{source: {source}, path: {name}{own}{more}}}\ndispatcher: easy\n"
    )
    return hpcsched.load_scenario(path)


@pytest.mark.parametrize("source", LOGS)
@pytest.mark.parametrize("policy", ["keep", "never_leave", "skip"])
def test_what_each_source_reads(source: str, policy: str, tmp_path: Path) -> None:
    """Job 2 would run as long as the last job of its user, and job 3 for its requested time."""
    scenario = scenario_of(tmp_path, source, f", withdrawn: {policy}")
    jobs = hpcsched.read_workload(scenario).jobs
    found = {job.job_id: (run_time, job.patience) for job, run_time in jobs}
    if policy == "skip":
        assert list(found) == [1]
        return
    requested = jobs[-1].job.requested_time
    wait = 1800 if policy == "keep" else None
    assert found == {1: (600, None), 2: (600, wait), 3: (requested, wait)}


@pytest.mark.parametrize("source", LOGS)
def test_a_replay(source: str, tmp_path: Path) -> None:
    """One job at a time: 1 ends at 600 s, 2 runs 600 s more, then 3; both are patient."""
    scenario = scenario_of(tmp_path, source, ", withdrawn: keep")
    hpcsched.run(scenario, tmp_path / "run")
    assert main(["verify", str(tmp_path / "run")]) == 0
    table = pq.read_table(tmp_path / "run" / "jobs.parquet")
    rows: dict[int, Any] = {row["job_id"]: row for row in table.to_pylist()}
    first = rows[1]["start_time"]
    starts = {number: row["start_time"] - first for number, row in rows.items()}
    assert starts == {1: 0, 2: 600, 3: 1200}
    assert {row["state"] for row in rows.values()} == {"completed"}


def test_a_job_that_leaves(tmp_path: Path) -> None:
    """With job 1 running 3,600 s, jobs 2 and 3 leave at 1,900 s; the account has them."""
    content = SWF.replace(" 600 ", " 3600 ")
    scenario = scenario_of(tmp_path, "swf", ", withdrawn: keep", content)
    hpcsched.run(scenario, tmp_path / "run")
    assert main(["verify", str(tmp_path / "run")]) == 0
    account = json.loads((tmp_path / "run" / "summary.json").read_text())["jobs"]
    assert (account["completed"], account["withdrawn"]) == (1, 2)
    # Jobs 4 and 5 started, or requested no time.
    assert account["skipped"] == {"missing_run_time": 1, "zero_run_time": 1}


def test_begin_times(tmp_path: Path) -> None:
    """Job 2 of Slurm was eligible after 20 minutes, and starts then, though the node is free."""
    more = ", withdrawn: keep, begin_times: honour"
    found = hpcsched.replay(scenario_of(tmp_path, "slurm-sacct", more))
    starts = found.start_times
    assert {number: start - starts[1] for number, start in starts.items()} == {1: 0, 2: 1200}
