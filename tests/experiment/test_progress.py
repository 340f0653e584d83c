"""How progress is shown: a table on a terminal, lines elsewhere."""

import io
import re
from pathlib import Path

from hpcsched.experiment.execution import Outcome
from hpcsched.experiment.progress import Lines, LiveTable, Progress, clock, make_progress
from tests.experiment.samples import read_sample


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


def follow(progress: Progress, folder: Path) -> None:
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
    assert stream.getvalue().splitlines() == [
        "[1/4] none_5: done in 1.2 s",
        "[2/4] none_9: failed: it went wrong",
        "[3/4] sjf_5: kept",
    ]


def test_a_table(tmp_path: Path) -> None:
    """It counts cells, names those that run, and writes what failed."""
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
