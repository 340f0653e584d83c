"""The trace source `run`: the jobs of an earlier run."""

from pathlib import Path

import pytest

from hpcsched.cli.auditing import audit_directory
from hpcsched.errors import InputError
from hpcsched.results.files import JOBS
from hpcsched.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.run_source import RunSource, RunSourceParams

SYSTEM = System((NodeGroup("node", 2, {"core": 2}),))
SCENARIO = """name: first
system: {groups: [{name: node, count: 2, resources: {core: 2}}]}
trace: {source: swf, path: a.swf}
dispatcher: easy
"""


@pytest.fixture
def jobs_file(tmp_path: Path) -> Path:
    """Give the jobs of a run."""
    (tmp_path / "a.yaml").write_text(SCENARIO)
    lines = [f"{n} {n} 0 {n} 1 -1 -1 2 20 -1 1 7 1 1 1 1 -1 -1" for n in range(1, 6)]
    (tmp_path / "a.swf").write_text("\n".join(lines) + "\n")
    return run(load_scenario(tmp_path / "a.yaml"), tmp_path / "run").directory.path / "jobs.parquet"


def test_the_same_jobs(jobs_file: Path) -> None:
    """Requests, users and run times are those of the run; early submissions can be put off."""
    source = RunSource(RunSourceParams(path=str(jobs_file)), SYSTEM)
    jobs = list(source.jobs())
    assert [(job.job_id, job.submit_time, run_time) for job, run_time in jobs] == [
        (n, n, n) for n in range(1, 6)
    ]
    assert {(job.units, job.unit_request, job.user) for job, _ in jobs} == {(2, (1,), 7)}
    assert (source.account.read, source.account.submitted) == (5, 5)
    later = RunSource(RunSourceParams(path=str(jobs_file), submitted_from=3), SYSTEM)
    assert [job.submit_time for job, _ in later.jobs()] == [3, 3, 3, 4, 5]
    params = RunSourceParams(path=str(jobs_file), submitted_from=4, noticed_after=2)  # type: ignore[arg-type]
    noticed = [(job.submit_time, run) for job, run in RunSource(params, SYSTEM).jobs()]
    assert noticed == [(4, 3), (4, 4), (5, 5), (6, 6), (7, 7)]


def test_what_a_table_said_of_nodes(tmp_path: Path) -> None:
    """Where jobs may run, and how they share nodes, comes back from a run, which is as it must."""
    rows = ["submit_time,run_time,requested_time,units,allowed_nodes,exclusive,scatter"]
    rows += ["0,5,5,2,,0,1", "0,5,5,1,1,0,0", "1,5,5,1,,1,0", "1,5,5,2,,0,0"]
    (tmp_path / "a.csv").write_text("\n".join(rows) + "\n")
    text = SCENARIO.replace("{source: swf, path: a.swf}", "{source: table, path: a.csv}")
    (tmp_path / "a.yaml").write_text(text)
    done = run(load_scenario(tmp_path / "a.yaml"), tmp_path / "run").directory
    jobs = [job for job, _ in RunSource(RunSourceParams(path=str(done.path / JOBS)), SYSTEM).jobs()]
    assert [(job.allowed_nodes, job.exclusive, job.scatter) for job in jobs] == [
        (None, False, True),
        (frozenset({1}), False, False),
        (None, True, False),
        (None, False, False),
    ]
    assert audit_directory(done).ok
    placed = {row["job_id"]: row["node_units"] for row in done.jobs.whole().to_pylist()}
    assert placed[1] == [1, 1]


def test_another_system(jobs_file: Path) -> None:
    """A system of other resource types is refused, and a file that holds no jobs."""
    gpus = System((NodeGroup("node", 2, {"gpu": 2}),))
    with pytest.raises(InputError, match="its jobs ask for core"):
        list(RunSource(RunSourceParams(path=str(jobs_file)), gpus).jobs())
    rounds = jobs_file.with_name("rounds.parquet")
    with pytest.raises(InputError, match="it is no jobs"):
        list(RunSource(RunSourceParams(path=str(rounds)), SYSTEM).jobs())
