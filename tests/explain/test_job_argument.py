"""Which job is meant: its number, or Slurm's id of a part of a job."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = """name: site
system: {groups: [{name: n, count: 1, resources: {core: 4}}]}
trace: {source: slurm-sacct, path: jobs.txt, time_zone: UTC, unknown_resource_type: ignore}
dispatcher: easy
observers: [reasons]
"""
HEAD = "JobID|Submit|Start|End|Timelimit|NNodes|NCPUS|ReqMem|AllocTRES|Partition|User|State\n"
ROW = (
    "{id}|2024-03-04T00:00:00|2024-03-04T00:01:00|2024-03-04T00:11:00|01:00:00|1|4|8G|"
    "billing=4,cpu=4,mem=8G,node=1|cpu|anna|COMPLETED\n"
)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """The run of a job, and of a task of an array."""
    (tmp_path / "jobs.txt").write_text(HEAD + ROW.format(id="8000") + ROW.format(id="8000_14"))
    (tmp_path / "site.yaml").write_text(SCENARIO)
    run(load_scenario(tmp_path / "site.yaml"), tmp_path / "run")
    return tmp_path / "run"


@pytest.mark.parametrize(
    ("job", "number"),
    [("8000", 8000), ("8000_14", 15_000_008_000), ("15000008000", 15_000_008_000)],
)
def test_numbers_and_ids(
    site: Path, job: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """An array task is told apart from the job of its array."""
    assert main(["explain", str(site), job]) == 0
    assert str(number) in capsys.readouterr().out


@pytest.mark.parametrize("job", ["8000_014x", "8_000_014", "8000.batch", "8000_[1-3]", "-1", "x"])
def test_what_is_no_job(site: Path, job: str) -> None:
    """Python would read underscores between digits, and another job would be explained."""
    assert main(["explain", str(site), "--", job]) == 2
