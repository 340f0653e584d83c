"""How progress is shown: a bar on a terminal, lines for cells elsewhere."""

from pathlib import Path

import pytest

from hpcsched.studies.execution import Outcome
from hpcsched.studies.progress import Bar, CellProgress
from tests.studies.experiment_samples import read_sample
from tests.terminal import error_terminal


def follow(progress: CellProgress, folder: Path) -> None:
    """Let three of four cells end in all ways."""
    first, second, third, _ = read_sample(folder).cells
    with progress:
        progress.ended(Outcome(first, "done", 1.25))
        progress.ended(Outcome(second, "failed", 2.0, "it went wrong"))
        progress.ended(Outcome(third, "kept"))


def test_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each cell that has come to an end has a line; no time has passed."""
    monkeypatch.setattr("hpcsched.studies.progress.monotonic", lambda: 0.0)
    follow(CellProgress("tiny", 4), tmp_path)
    assert capsys.readouterr().err.splitlines() == [
        "[1/4] none_5: done in 1.2 s; about 0:00:00 left",
        "[2/4] none_9: failed: it went wrong; about 0:00:00 left",
        "[3/4] sjf_5: kept; about 0:00:00 left",
    ]


def test_quiet(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written."""
    follow(CellProgress("tiny", 4, quiet=True), tmp_path)
    assert capsys.readouterr() == ("", "")


def test_the_rest_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two cells in 60 s: the other two take as long; kept ones do not count, the last has none."""
    now = [0.0]
    monkeypatch.setattr("hpcsched.studies.progress.monotonic", lambda: now[0])
    cells = read_sample(tmp_path).cells
    with CellProgress("tiny", 5) as lines:
        lines.ended(Outcome(cells[0], "kept"))
        now[0] = 60.0
        for cell in cells[:4]:
            lines.ended(Outcome(cell, "done", 30.0))
    rests = [line.partition("; ")[2] for line in capsys.readouterr().err.splitlines()]
    assert rests == ["", "about 0:03:00 left", "about 0:01:00 left", "about 0:00:20 left", ""]


def test_cells_on_a_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar counts cells, and what failed is written above it."""
    terminal = error_terminal(monkeypatch)
    follow(CellProgress("tiny", 4), tmp_path)
    text = "\n".join(terminal.lines)
    assert "none_9: it went wrong" in text
    assert "75% 3 of 4 cells: 1 done, 1 failed, 1 kept" in text


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The share that is done, and a note."""
    terminal = error_terminal(monkeypatch)
    with Bar("easy") as bar:
        bar.show(0.5, "2 problems")
    assert any("50% 2 problems" in line for line in terminal.lines)
