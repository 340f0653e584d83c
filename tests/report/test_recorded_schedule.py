"""The log's own schedule as a column of a comparison, with numbers by hand."""

import json
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.report.compared_study import ComparedStudy
from hpcsched.report.studied_runs import open_study
from hpcsched.report.studying import recorded_schedule
from tests.report.named_site import LOG, shown, write_site

# Job 4 with a start that is recorded: 10 s after its submission.
ALL_RECORDED = LOG.replace("10:00:20|2024-03-01T10:00:50", "10:00:40|2024-03-01T10:01:10")


def lines(*arguments: str | Path) -> list[str]:
    """Return the lines of a comparison, with single blanks."""
    return [" ".join(line.split()) for line in shown("compare", *arguments).splitlines()]


def test_all_starts_are_recorded(tmp_path: Path) -> None:
    """The site's waits are 0, 140, 0 and 10 s, EASY's 0, 90, 0 and 0 s."""
    paths = write_site(tmp_path, log=ALL_RECORDED)
    found = lines(*paths, "--recorded")
    assert found[0] == "metric unit easy (baseline) recorded"
    assert "mean_wait_time s 22.5 37.5 (166.7 %)" in found
    # The last end is that of job 2, 150 s after 10:00:10 under EASY, and 200 s at the site.
    assert "makespan s 150 200 (133.3 %)" in found
    # The log has no rounds, of which this metric is made.
    assert next(line for line in found if line.startswith("loss_of_capacity")).endswith("–")
    assert (
        "recorded: the log's own schedule, not a replay: each job starts when the log says that it"
        " did, for all 4 jobs that ran." in found
    )


def test_the_log_as_the_baseline(tmp_path: Path) -> None:
    """The run is given in percent of the log's own schedule."""
    paths = write_site(tmp_path, log=ALL_RECORDED)
    found = lines(*paths, "--recorded", "--baseline", "recorded")
    assert found[0] == "metric unit easy recorded (baseline)"
    assert "mean_wait_time s 22.5 (60.0 %) 37.5" in found


def test_a_start_that_is_not_recorded(tmp_path: Path) -> None:
    """Job 4 is left out and told of; all columns are over jobs 1 to 3: 140 / 3 of 90 / 3."""
    paths = write_site(tmp_path)
    found = lines(*paths, "--recorded")
    assert "mean_wait_time s 30 46.6667 (155.6 %)" in found
    assert (
        "recorded: the log's own schedule, not a replay: each job starts when the log says that it"
        " did; 1 of the 4 jobs that ran have no recorded start, and are left out of all"
        " columns." in found
    )
    content = json.loads(shown("compare", *paths, "--recorded", "--format", "json"))
    assert content["recorded"]["jobs"] == 3
    assert content["recorded"]["without_recorded_start"] == 1
    assert content["runs"][1]["name"] == "recorded"
    back = lines(*paths, "--recorded", "--baseline", "recorded")
    assert f"mean_wait_time s 30 ({100 * 90 / 140:.1f} %) 46.6667" in back


def test_by_class_all_columns_are_of_the_same_jobs(tmp_path: Path) -> None:
    """On the GPU node only job 3 has a recorded start; both columns are of it alone."""
    paths = write_site(tmp_path)
    found = lines(*paths, "--recorded", "--by", "partition")
    at = found.index("mean_wait_time, in s")
    assert found[at + 1].startswith("slow 2 ")
    assert found[at + 1].endswith("45 70 (155.6 %)")
    assert found[at + 2].startswith("fast 1 ")
    assert any("Over jobs that ran and whose start the log records." in line for line in found)


def test_it_agrees_with_the_dispatcher_that_follows_the_log(tmp_path: Path) -> None:
    """Where there is room, a replay that follows the log has the log's figures."""
    paths = write_site(tmp_path, "easy", log=ALL_RECORDED)
    scenario = tmp_path / "easy.yaml"
    replay = tmp_path / "runs" / "followed"
    shown("run", scenario, "--set", "dispatcher=recorded", "--out", replay)
    _, column = recorded_schedule(ComparedStudy(open_study(paths)))
    (followed,) = open_study([replay]).runs
    for name, value in followed.run.summary["metrics"].items():
        if name != "loss_of_capacity":
            assert column.figures[name] == pytest.approx(value)
    # A run that is called so keeps its name.
    assert "recorded (log)" in shown("compare", _renamed(replay, "recorded"), "--recorded")


def _renamed(run: Path, name: str) -> Path:
    """Give a run's scenario another name."""
    manifest = run / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"scenario": "easy"', f'"scenario": "{name}"'))
    return run


def test_logs_without_recorded_starts(tmp_path: Path) -> None:
    """The message names what is missing: a transform that moves jobs, and no start at all."""
    (path,) = write_site(tmp_path)
    moved = tmp_path / "runs" / "moved"
    transforms = "trace.transforms=[{name: scale-load, factor: 2}]"
    shown("run", tmp_path / "easy.yaml", "--set", transforms, "--out", moved)
    with pytest.raises(InputError, match="the transform scale-load changes submissions or jobs"):
        recorded_schedule(ComparedStudy(open_study([moved])))
    header, *_, last = LOG.splitlines()
    (tmp_path / "log.txt").write_text(f"{header}\n{last}\n")
    with pytest.raises(InputError, match="the start of none of the 4 jobs that ran"):
        recorded_schedule(ComparedStudy(open_study([path])))


def test_runs_of_several_logs(tmp_path: Path) -> None:
    """One log's schedule is no schedule of the other's jobs."""
    write_site(tmp_path / "one")
    write_site(tmp_path / "two", "other", log=ALL_RECORDED)
    paths = [tmp_path / "one" / "runs", tmp_path / "two" / "runs"]
    with pytest.raises(InputError, match="the runs are of several: log \\(1\\), log \\(2\\)"):
        recorded_schedule(ComparedStudy(open_study(paths)))
