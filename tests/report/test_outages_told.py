"""What people are told of outages and dependencies: explanations, accounts and pictures."""

from pathlib import Path

import pytest

from hpcsched.cli import main
from hpcsched.explain.explanation import explain_run
from hpcsched.report.figures.gantt_figure import NodeOutage, gantt_windows
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.run_account import account_lines
from hpcsched.runs.run_result import RunResult
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = """\
name: told
system: {groups: [{name: node, count: 2, resources: {core: 1}}]}
outages:
  maintenance: [{name: weekly, start: 40, duration: 10}]
  failure_log: failures.csv
trace: {source: swf, path: jobs.swf, dependencies: honour}
dispatcher: easy
observers: [reasons]
"""
FAILURES = "node,from,until\nnode-0,5,8\nnode-0,7,9\n"
# Job, submit time, run time, processors, preceding job, think time.
JOBS = ((1, 0, 10, 2, -1, -1), (2, 1, 30, 1, -1, -1), (3, 2, 1, 1, 1, 4))


def write_scenario(folder: Path) -> Path:
    """Write the scenario, its jobs and its failures; return the scenario's file."""
    (folder / "told.yaml").write_text(SCENARIO)
    (folder / "failures.csv").write_text(FAILURES)
    lines = [
        f"{k} {submit} -1 {time} {n} -1 -1 {n} {time} -1 1 1 1 1 1 1 {after} {think}\n"
        for k, submit, time, n, after, think in JOBS
    ]
    (folder / "jobs.swf").write_text("; Version: 2.2\n" + "".join(lines))
    return folder / "told.yaml"


@pytest.fixture(name="ran", scope="module")
def _ran(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    """Run three jobs: one loses a node, one waits for maintenance, one for the first."""
    folder = tmp_path_factory.mktemp("told")
    return run(load_scenario(write_scenario(folder)), folder / "run")


def told(ran: RunResult, job_id: int) -> str:
    """Return the explanation of a job."""
    return str(explain_run(ran.directory, job_id))


def test_explanations(ran: RunResult) -> None:
    """Job 2 has node 1 from 5 to 35, so that job 1 is done again from 50 to 60."""
    first = told(ran, 1)
    assert "submitted at 0 s, started at 50 s and ended at 60 s (completed)" in first
    assert "Attempts that were lost before: 1, of 5 s in all." in first
    assert "too few nodes were in service for it: failure" in first
    assert "for the end of maintenance weekly; a start at 50 s was planned" in first
    third = told(ran, 3)
    assert "it had to wait for job 1" in third
    assert "to end (think time, until second 64)" in third
    assert "started at 64 s" in third


def test_the_account(ran: RunResult) -> None:
    """One line says what was lost."""
    lines = list(account_lines(ran.summary))
    assert lines[0] == "3 records read, 3 jobs submitted: 3 completed"
    assert lines[1] == (
        "  lost to outages: 1 attempts, of which 1 were tried again, after 0.0 node-hours"
    )


WINDOW = "{{start: {}, duration: 10}}"


@pytest.mark.parametrize(
    ("maintenance", "failures", "said"),
    [
        (40, "5,8", None),
        (200, "5,8", None),  # one of them is enough
        (40, "100,200", None),  # as the last job ends
        (
            41,
            "100,200",
            "4:3: warning: outages: no outage touches the trace: there are 2,"
            " between seconds 41 and 200, and jobs between seconds 0 and 40; all"
            " count from the trace's origin [outages-beside-jobs]",
        ),
        (
            None,
            "1700000000,1700000100",
            "4:3: warning: outages: no outage touches the trace: there are 1, between seconds"
            " 1700000000 and 1700000100, and jobs between seconds 0 and 40; all count from the"
            " trace's origin [outages-beside-jobs]",
        ),
    ],
)
def test_outages_that_touch_no_job(
    maintenance: int | None,
    failures: str,
    said: str | None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whoever mixes Unix times and seconds from 0 is told, if no outage is within the trace."""
    scenario = write_scenario(tmp_path)
    log = tmp_path / "failures.csv"
    log.write_text(f"node,from,until\nnode-0,{failures}\n")
    windows = "" if maintenance is None else WINDOW.format(maintenance)
    out = str(tmp_path / "run")
    change = f"outages.maintenance=[{windows}]"
    assert main(["run", str(scenario), "--out", out, "--set", change]) == 0
    expected = "" if said is None else f"{scenario}:{said}\n"
    assert capsys.readouterr().err == expected


def test_the_gantt_chart(ran: RunResult) -> None:
    """Nodes that are out of service are there while they are in the window."""
    runs = open_study([ran.directory.path]).runs
    (window,) = gantt_windows(runs, None, 6, 45)
    assert set(window.down) == {NodeOutage(0, 6, 9), NodeOutage(0, 40, 45), NodeOutage(1, 40, 45)}
