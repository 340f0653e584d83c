"""The dispatcher `recorded`: schedules by hand."""

from pathlib import Path
from typing import Any

import pytest

import hpcsched
from hpcsched.errors import InputError
from hpcsched.explain.explanation import explain_run
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from hpcsched.report.tables.run_account import account_lines
from hpcsched.report.tables.run_comparison import compare_runs, comparison_table
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.runner import run
from hpcsched.scenario import load_scenario

SCENARIO = """\
name: logged
system: {groups: [{name: node, count: 2, resources: {core: 1}}]}
trace: {source: swf, path: jobs.swf}
dispatcher: recorded
"""
# Job, submit time, wait time, run time, processors. Job 2 was started while job 1 had both.
JOBS = ((1, 0, 5, 10, 2), (2, 1, 6, 30, 1), (3, 2, 8, 4, 1), (4, 3, 7, 4, 1), (5, 20, 0, 1, 1))


def write(folder: Path, jobs: Any = JOBS, text: str = SCENARIO) -> Path:
    """Write a scenario and its log; return the scenario's file."""
    (folder / "logged.yaml").write_text(text)
    lines = [
        f"{k} {submit} {wait} {time} {n} -1 -1 {n} {time} -1 1 1 1 1 1 1 -1 -1\n"
        for k, submit, wait, time, n in jobs
    ]
    (folder / "jobs.swf").write_text("".join(lines))
    return folder / "logged.yaml"


def starts_of(directory: RunDirectory) -> dict[int, int]:
    """Return the start time of each job."""
    table = directory.all_jobs.whole()
    pairs = zip(table["job_id"].to_pylist(), table["start_time"].to_pylist(), strict=True)
    return dict(sorted(pairs))


def test_by_hand(tmp_path: Path) -> None:
    """Job 1 starts at 0 + 5 and has both nodes until 15, so that jobs 2, 3 and 4 are late.

    They were due at 1 + 6 = 7, 2 + 8 = 10 and 3 + 7 = 10. At 15 there are two nodes: for job 2,
    which was due first, and of the others job 3, which came first. Job 2 runs until 45; job 3 until
    19, when job 4 follows, until 23. Job 5 is due at 20 and finds both nodes taken until 23.
    They are late by 8, 5, 9 and 3 s: 25 s together.
    """
    directory = run(load_scenario(write(tmp_path), ["observers=[reasons]"]), tmp_path / "run")
    assert starts_of(directory.directory) == {1: 5, 2: 15, 3: 15, 4: 19, 5: 23}
    figures = {"jobs": 5, "without_start": 0, "later": 4, "later_time": 25, "latest": 9}
    assert directory.summary["recorded_starts"] == figures
    said = "1 of 5 jobs started when the log says; 4 later for want of room, by 6 s on average"
    assert f"  {said} and at most 9 s" in list(account_lines(directory.summary))
    why = str(explain_run(directory.directory, 2))
    assert "round 2, for 6 s: the log has it start later, at 7 s" in why
    assert "at 7 s (6 s after its submission), round 6, for 8 s: there was no room for it" in why


def test_a_log_that_fits_is_followed_to_the_second(tmp_path: Path) -> None:
    """The starts of a run under another dispatcher are those of its log, and so are its figures."""
    text = SCENARIO.replace("recorded", "{name: easy, backfill_order: sjf}")
    before = run(load_scenario(write(tmp_path, text=text)), tmp_path / "before")
    log = f"trace={{source: run, path: {tmp_path / 'before/jobs.parquet'}}}"
    scenario = load_scenario(write(tmp_path), [log])
    after = run(scenario, tmp_path / "after")
    assert starts_of(after.directory) == starts_of(before.directory)
    assert after.summary["metrics"] == before.summary["metrics"]
    assert after.summary["recorded_starts"]["later"] == 0
    assert hpcsched.replay(scenario).start_times == starts_of(before.directory)
    study = open_study([before.directory.path, after.directory.path])
    comparison = compare_runs(ComparedStudy(study))
    notes = comparison_table(comparison).notes
    assert notes[-1] == "jobs (2): 5 of 5 jobs started when the log says."


def test_what_fits_passes_a_late_job(tmp_path: Path) -> None:
    """Job 2 is due at 4 and needs both nodes, which are free at 10; job 3 starts at 5 anyway."""
    jobs = ((1, 0, 0, 6, 1), (2, 0, 4, 5, 2), (3, 1, 4, 5, 1))
    done = run(load_scenario(write(tmp_path, jobs)), tmp_path / "run")
    assert starts_of(done.directory) == {1: 0, 2: 10, 3: 5}


def test_jobs_of_no_length(tmp_path: Path) -> None:
    """Job 1 starts and ends at 3; job 2, due then as well, has the nodes in the same instant."""
    jobs = ((1, 0, 3, 0, 2), (2, 0, 3, 7, 2))
    scenario = load_scenario(write(tmp_path, jobs), ["trace.zero_run_time=keep"])
    with pytest.raises(InputError, match="no requested time"):
        run(scenario, tmp_path / "none")
    keep = ["trace.zero_run_time=keep", "trace.missing_requested_time=9"]
    done = run(load_scenario(tmp_path / "logged.yaml", keep), tmp_path / "run")
    assert starts_of(done.directory) == {1: 3, 2: 3}


def test_part_of_a_log(tmp_path: Path) -> None:
    """Without job 1 there is room for the others when they are due, counted from second 1 on."""
    part = ["trace.transforms=[{name: window, start: 1}]"]
    done = run(load_scenario(write(tmp_path), part), tmp_path / "run")
    assert done.summary["recorded_starts"] == {
        "jobs": 4,
        "without_start": 0,
        "later": 1,
        "later_time": 4,
        "latest": 4,
    }
    assert starts_of(done.directory) == {2: 6, 3: 9, 4: 13, 5: 19}


def test_a_start_that_is_not_recorded(tmp_path: Path) -> None:
    """Job 2 waited for -1 s, which is none: an error, or its start is its submission, and told."""
    jobs = ((1, 0, 5, 10, 1), (2, 1, -1, 30, 1))
    with pytest.raises(InputError, match=r"jobs.swf: error: job 2 has no recorded start"):
        run(load_scenario(write(tmp_path, jobs)), tmp_path / "none")
    chosen = ["dispatcher={name: recorded, missing_start: submission}"]
    done = run(load_scenario(tmp_path / "logged.yaml", chosen), tmp_path / "run")
    assert starts_of(done.directory) == {1: 5, 2: 1}
    assert done.summary["recorded_starts"]["without_start"] == 1
    assert any("1 have no recorded start" in line for line in account_lines(done.summary))


def test_a_wait_that_is_no_number(tmp_path: Path) -> None:
    """It counts as not given: whoever follows it is told, other dispatchers do not read it."""
    jobs = ((1, 0, "x", 10, 1),)
    with pytest.raises(InputError, match=r"jobs.swf: error: job 1 has no recorded start"):
        run(load_scenario(write(tmp_path, jobs)), tmp_path / "run")
    other = load_scenario(tmp_path / "logged.yaml", ["dispatcher=easy"])
    assert hpcsched.replay(other).start_times == {1: 0}
