"""Several scenarios, and folders of them, in one command."""

from pathlib import Path

import pytest

from hpcsched import cli
from tests.runs.small_scenario import LOG, write_scenario


def two(folder: Path) -> tuple[Path, Path]:
    """Write two scenarios that differ in name and order."""
    return write_scenario(folder), write_scenario(folder, "short", "sjf")


def test_two_runs_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each has a run directory below --out; a comparison ends what is printed."""
    first, second = two(tmp_path)
    assert cli.main(["run", str(first), str(second), "--out", str(tmp_path / "runs")]) == 0
    out = capsys.readouterr().out
    assert (tmp_path / "runs/small/summary.json").is_file()
    assert (tmp_path / "runs/short/summary.json").is_file()
    assert out.index("small:\n") < out.index("short:\n") < out.index("metric  ")
    assert "By the objective, mean_bounded_slowdown (tau = 10); * is the best." in out


def test_one_page_for_several_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It would end with the first run, so it is refused."""
    given = ["run", *map(str, two(tmp_path)), "--out", str(tmp_path / "runs")]
    assert cli.main([*given, "--page", str(tmp_path / "live.html")]) == 2
    assert "a page shows one run" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A folder stands for the YAML files in it; one without any is refused."""
    two(tmp_path / "scenarios")
    assert cli.main(["validate", str(tmp_path / "scenarios")]) == 0
    assert capsys.readouterr().out.startswith("2 files, 0 errors")
    given = ["run", str(tmp_path / "scenarios"), "--out", str(tmp_path / "runs"), "--quiet"]
    assert cli.main(given) == 0
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["short", "small"]
    (tmp_path / "empty").mkdir()
    assert cli.main(["run", str(tmp_path / "empty")]) == 1
    assert "empty: error: the folder holds no YAML file" in capsys.readouterr().err


def test_faults_of_all_before_any_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is replayed if one of the scenarios is not valid."""
    first, _ = two(tmp_path)
    bad = write_scenario(tmp_path, "bad")
    bad.write_text(bad.read_text().replace("system", "sytsem"))
    assert cli.main(["run", str(first), str(bad), "--out", str(tmp_path / "runs")]) == 1
    assert "sytsem" in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_two_of_one_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Their runs would be one folder, so they are refused."""
    first = write_scenario(tmp_path)
    copy = tmp_path / "copy.yaml"
    copy.write_text(first.read_text())
    assert cli.main(["run", str(first), str(copy), "--out", str(tmp_path / "runs")]) == 1
    err = capsys.readouterr().err
    assert f"{copy}:1:7: error: name: {first} has the name 'small' too" in err


def test_a_run_that_failed_at_its_begin_leaves_room(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once the log is mended, the same command runs; a run with results is not replaced."""
    log = tmp_path / "log.swf"
    log.write_text("this is no record\n")
    given = ["run", str(write_scenario(tmp_path)), "--out", str(tmp_path / "run")]
    assert cli.main(given) == 1
    assert (tmp_path / "run/manifest.json").is_file()
    log.write_text(LOG)
    assert cli.main(given) == 0
    assert cli.main(given) == 1
    assert "--force" in capsys.readouterr().err


def test_all_errors_in_one_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing log is told beside misspelt keys and names, in the order of the file."""
    path = tmp_path / "wrong.yaml"
    path.write_text(
        "name: x\nsede: 1\n"
        "system:\n  groups:\n    - {name: n, count: 2, resources: {core: 1}}\n"
        "trace: {source: swf, path: none.swf}\n"
        "dispatcher: {name: easy, depht: 3}\n"
        "objective: bestest\n"
    )
    assert cli.main(["validate", str(path)]) == 1
    out = capsys.readouterr().out.splitlines()
    expected = ["[unknown-key]", "[path-not-found]", "[unknown-key]", "[unknown-plugin]"]
    assert [line.rpartition(" ")[2] for line in out[:-1]] == expected
    assert cli.main(["run", str(path)]) == 1
    rules = [line.rpartition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    assert rules == expected
    text = path.read_text()
    path.write_text(text.replace("count: 2", "count: 0"))
    assert cli.main(["validate", str(path)]) == 1
    assert "4 errors" in capsys.readouterr().out
