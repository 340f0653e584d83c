"""The trace source `run`: the jobs of an earlier run."""

from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.readers.run_source import RunSource, RunSourceParams

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
    """Requests, users and run times are those of the run; both times can be put off."""
    source = RunSource(RunSourceParams(path=str(jobs_file)), SYSTEM)
    jobs = list(source.jobs())
    assert [(job.job_id, job.submit_time, run_time) for job, run_time in jobs] == [
        (n, n, n) for n in range(1, 6)
    ]
    assert {(job.units, job.unit_request, job.user) for job, _ in jobs} == {(2, (1,), 7)}
    assert (source.account.read, source.account.submitted) == (5, 5)
    params = RunSourceParams(path=str(jobs_file), noticed_after=2)
    later = [(job.submit_time, run_time) for job, run_time in RunSource(params, SYSTEM).jobs()]
    assert later == [(n + 2, n + 2) for n in range(1, 6)]


def test_another_system(jobs_file: Path) -> None:
    """A system of other resource types is refused, and a file that holds no jobs."""
    gpus = System((NodeGroup("node", 2, {"gpu": 2}),))
    with pytest.raises(InputError, match="its jobs ask for core"):
        list(RunSource(RunSourceParams(path=str(jobs_file)), gpus).jobs())
    rounds = jobs_file.with_name("rounds.parquet")
    with pytest.raises(InputError, match="it is no jobs"):
        list(RunSource(RunSourceParams(path=str(rounds)), SYSTEM).jobs())

    rounds.write_text("no table")
    with pytest.raises(InputError, match=r"it is no jobs\.parquet of a run"):
        list(RunSource(RunSourceParams(path=str(rounds)), SYSTEM).jobs())
