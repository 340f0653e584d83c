"""How progress is shown: a table on a terminal, lines elsewhere."""

import io
import re
from pathlib import Path

import pytest

from hpcsched.studies.execution import Listener, Outcome
from hpcsched.studies.progress import Lines, LiveTable, clock, make_progress
from tests.studies.experiment_samples import read_sample


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def follow(progress: Listener, folder: Path) -> None:
    """Let four cells begin and end in all ways."""
    first, second, third, fourth = read_sample(folder).cells
    with progress:
        for cell in (first, second, fourth):
            progress.started(cell)
        progress.ended(Outcome(first, "done", 1.25))
        progress.ended(Outcome(second, "failed", 2.0, "it went wrong"))
        progress.ended(Outcome(third, "kept"))


def test_lines(tmp_path: Path) -> None:
    """Each cell that has come to an end has a line."""
    stream = io.StringIO()
    progress = make_progress("tiny", 4, stream)
    assert isinstance(progress, Lines)
    follow(progress, tmp_path)
    # The rest, by the time since the begin: next to nothing here.
    assert stream.getvalue().splitlines() == [
        "[1/4] none_5: done in 1.2 s; about 0:00:00 left",
        "[2/4] none_9: failed: it went wrong; about 0:00:00 left",
        "[3/4] sjf_5: kept; about 0:00:00 left",
    ]


def test_the_rest_in_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two cells in 60 s: the other two take as long; kept ones do not count, the last has none."""
    now = [0.0]
    monkeypatch.setattr("hpcsched.studies.progress.monotonic", lambda: now[0])
    stream = io.StringIO()
    cells = read_sample(tmp_path).cells
    with Lines(5, stream) as lines:
        lines.ended(Outcome(cells[0], "kept"))
        now[0] = 60.0
        for cell in cells[:4]:
            lines.ended(Outcome(cell, "done", 30.0))
    rests = [line.partition("; ")[2] for line in stream.getvalue().splitlines()]
    assert rests == ["", "about 0:03:00 left", "about 0:01:00 left", "about 0:00:20 left", ""]


def test_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts cells, names those that run, and writes what failed."""
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    progress = make_progress("tiny", 4, stream)
    assert isinstance(progress, LiveTable)
    follow(progress, tmp_path)
    shown = re.sub(r"\x1b\[[\d;?]*[A-Za-z]", "", stream.getvalue())
    assert "none_9: it went wrong" in shown
    last = shown[shown.rindex("cells") :]
    assert re.search(r"4\D+1\D+1\D+1\D+1 .* [\d,]+/h", last)
    assert re.search(r"sjf_9 \(0:00:0\d\)", last)


def test_clock() -> None:
    """Times are shown with hours, minutes and seconds."""
    assert [clock(seconds) for seconds in (0, 59.6, 3661)] == ["0:00:00", "0:01:00", "1:01:01"]
