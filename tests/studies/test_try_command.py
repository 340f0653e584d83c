"""The command `hpcsched try`, and other commands that are given a log."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from hpcsched.cli import app, main
from hpcsched.errors import InputError
from tests.real_traces import KTH_SP2, trace
from tests.studies import first_look_samples as samples


def asked(*arguments: str, code: int = 0) -> str:
    """Return what a command prints."""
    result = CliRunner().invoke(app, [*arguments])
    assert result.exit_code == code, result.output
    return result.stdout


def test_a_log_without_yaml(tmp_path: Path) -> None:
    """The format, the machine, the account, the answer, and what to type next."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    text = asked("try", str(log), "--dispatchers", "easy,sjf")
    assert "log.swf: Standard Workload Format\n" in text
    assert "machine: 4 nodes with 2 cores each, from the log's header" in text
    assert "80 records read, 80 jobs submitted: 80 completed\n" in text
    assert "By the objective, mean_bounded_slowdown (tau = 10)" in text
    assert "The audit of each run says ok.\n" in text
    assert text.endswith("\nto keep these scenarios and runs, add --save DIR\n")


def test_the_machine_is_large_enough_for_jobs_that_are_not_replayed(tmp_path: Path) -> None:
    """The first two jobs take 5 cores together, the last one 7; no header tells the machine."""
    records = samples.RECORDS.splitlines(keepends=True)
    last = records[-1].split()
    last[4] = last[7] = "7"
    last[1] = "100000"
    log = samples.written(tmp_path, "".join([*records[:2], " ".join(last) + "\n"]), "log.swf")
    text = asked("try", str(log), "--dispatchers", "easy", "--jobs", "2")
    assert "machine: 7 nodes with 1 core each, assumed: the largest job, 7 cores" in text
    assert "larger_than_system" not in text


def crowded_log(folder: Path) -> Path:
    """Write a log of two cores: ten jobs alone, then twenty of 60 s and 10 s a second apart."""
    times = [(100 * k, 60) for k in range(10)]
    times += [(5000 + k, 10 if k % 2 else 60) for k in range(20)]
    rest = "-1 1 1 1 1 1 1 -1 -1"
    records = "".join(
        f"{number} {submit} {500 if number <= 10 else 3} {run} 1 -1 -1 1 {run} {rest}\n"
        for number, (submit, run) in enumerate(times, 1)
    )
    return samples.written(folder, "; MaxProcs: 2\n" + records, "log.swf")


def test_a_winner_is_ahead_beyond_noise(tmp_path: Path) -> None:
    """The order of jobs makes LJF the worst; SJF and order search are equal."""
    log = crowded_log(tmp_path)
    text = asked("try", str(log), "--dispatchers", "sjf,ljf", "--jobs", "0")
    assert "sjf is ahead by the objective" in text
    options = ["--dispatchers", "sjf,order-search", "--jobs", "0"]
    assert "are equal" in asked("try", str(log), *options)
    content = json.loads(asked("try", str(log), *options, "--format", "json"))
    assert len(content["runs"]) == 2


def test_the_logs_own_schedule(tmp_path: Path) -> None:
    """Each of the first ten jobs waited for 500 s in the log, and for none in the replay."""
    result = CliRunner().invoke(
        app,
        ["try", str(crowded_log(tmp_path)), "--dispatchers", "easy", "--jobs", "10", "--recorded"],
    )
    assert "recorded: the log's own schedule, not a replay" in result.stdout
    assert (
        "replay and log are far apart: the mean wait is 500 s in recorded and 0 s in the nearest"
        " run" in result.stderr
    )


def test_dispatchers_are_equal_where_no_job_waited(tmp_path: Path) -> None:
    """Two jobs on a thousand cores."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    text = asked("try", str(log), "--dispatchers", "easy,sjf", "--nodes", "1000", "--jobs", "2")
    assert "easy, sjf are equal: 1" in text


def test_a_log_that_is_not_utf_8(tmp_path: Path) -> None:
    """Other bytes are escaped; fractions of seconds are rounded."""
    log = tmp_path / "log"
    text = samples.SACCT.replace("anna", "día").replace("00:11:00|", "00:11:00.5|")
    log.write_bytes(text.encode("latin-1"))
    said = asked("try", str(log), "--dispatchers", "easy")
    assert "1 records read, 1 jobs submitted: 1 completed\n" in said
    assert "1 clipped: fractional_seconds\n" in said


def test_saved_scenarios_run(tmp_path: Path) -> None:
    """The folder has a scenario and a run for each dispatcher."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    save = tmp_path / "saved"
    content = json.loads(
        asked("try", str(log), "--dispatchers", "easy,sjf", "--save", str(save), "--format", "json")
    )
    assert {path.name for path in save.glob("*.yaml")} == {"easy.yaml", "sjf.yaml"}
    again = tmp_path / "again"
    asked("run", str(save / "sjf.yaml"), "--out", str(again))
    value = json.loads((again / "summary.json").read_text())["objective"]["value"]
    labels = [run["label"] for run in content["runs"]]
    assert content["metrics"][0]["values"][labels.index("sjf")] == value


def test_another_study_is_not_overwritten(tmp_path: Path) -> None:
    """A folder with the runs of another log is refused before anything is replayed."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    save = tmp_path / "saved"
    options = ["--dispatchers", "easy", "--jobs", "5", "--save", str(save)]
    asked("try", str(log), *options)
    before = (save / "easy.yaml").read_text()
    refused = CliRunner().invoke(app, ["try", str(log), *options, "--nodes", "9"])
    assert isinstance(refused.exception, InputError)
    assert f"{save}: error: it is not empty; " in str(refused.exception)
    assert (save / "easy.yaml").read_text() == before
    asked("try", str(log), *options, "--nodes", "9", "--force")
    assert "count: 9" in (save / "easy.yaml").read_text()


@pytest.mark.parametrize("name", ["af", "mean_response_time"])
def test_both_names_of_an_objective(tmp_path: Path, name: str) -> None:
    """The short name and that of the metric mean the same."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    text = asked("try", str(log), "--dispatchers", "easy", "--jobs", "5", "--objective", name)
    assert "By the objective, mean_response_time" in text


def test_the_example() -> None:
    """Without a log."""
    text = asked("try", "--example", "--dispatchers", "easy", "--jobs", "200")
    assert "200 jobs submitted: 200 completed" in text


@pytest.mark.parametrize("arguments", [["try"], ["try", "log.swf", "--example"]])
def test_a_log_or_the_example(arguments: list[str]) -> None:
    """One of the two."""
    asked(*arguments, code=2)


@pytest.mark.parametrize(
    "command",
    [["run"], ["validate"], ["forecast", "starts"], ["trace", "instances", "record", "--out", "x"]],
)
def test_a_log_in_place_of_a_scenario(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """One message says what it is, and what to type."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    assert main([*command, str(log)]) == 1
    out, err = capsys.readouterr()
    assert (out + err).count("this is a trace (Standard Workload Format)") == 1
    assert f"'hpcsched try {log}'" in out + err


def test_statistics_of_a_log(tmp_path: Path) -> None:
    """Commands about a trace take it as it is."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    assert "submitted" in asked("trace", "info", str(log))
    assert "mean absolute error" in asked("predictors", "evaluate", str(log))


def test_a_log_of_the_archive() -> None:
    """The machine of KTH-SP2 is that of its header; flawed records are counted."""
    text = asked("try", str(trace(KTH_SP2)), "--dispatchers", "easy,sjf", "--jobs", "2000")
    assert "machine: 100 nodes with 1 core each" in text
    assert "2000 jobs submitted: 2000 completed" in text


@pytest.mark.parametrize(("nodes", "machine"), [("3", "3 nodes with 2"), ("3x5", "3 nodes with 5")])
def test_a_machine_that_is_told(tmp_path: Path, nodes: str, machine: str) -> None:
    """Nodes alone, or with the cores of each."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    text = asked("try", str(log), "--dispatchers", "easy", "--nodes", nodes)
    assert f"machine: {machine} cores each, as given" in text


@pytest.mark.parametrize("nodes", ["0", "x8", "3x", "3x0", "many"])
def test_a_machine_that_is_none(tmp_path: Path, nodes: str) -> None:
    """It is told how to say it."""
    log = samples.written(tmp_path, samples.SWF, "log.swf")
    asked("try", str(log), "--nodes", nodes, code=2)
