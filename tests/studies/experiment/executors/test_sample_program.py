"""The program of the tasks by which executors are checked."""

from pathlib import Path

import pytest

from hpcsched.studies.experiment.executors import sample_program


def run(text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the program with a scenario."""
    (folder / "scenario.yaml").write_text(text)
    arguments = ["", str(folder / "scenario.yaml"), str(folder / "run")]
    monkeypatch.setattr(sample_program.sys, "argv", arguments)
    return sample_program.main()


def test_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It ends after the given time."""
    assert run("0.02", tmp_path, monkeypatch) == 0
    began, end = map(float, (tmp_path / "run" / "times").read_text().split())
    assert end - began >= 0.01


def test_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says the text, and leaves no run."""
    assert run("no luck", tmp_path, monkeypatch) == 1
    assert capsys.readouterr().err == "no luck\n"
    assert not (tmp_path / "run").exists()
