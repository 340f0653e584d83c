"""The page of a run in progress."""

import re
from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.runs.live_page import MOST_POINTS, LivePage, PageFile, curve_of
from hpcsched.runs.runner import run
from tests.runs.small_scenario import write_scenario
from tests.runs.test_run_status import STATE


def test_a_curve_fills_its_square() -> None:
    """Times go from 0 to 1, the largest value is at the top; no values are no line."""
    assert curve_of("queue", [0, 4, 2], " jobs") == (
        "queue", "0,1 0.5,0 1,0.5", "2 jobs", "4 jobs",
    )  # fmt: skip
    assert curve_of("queue", []).points == ""
    assert curve_of("queue", [0, 0]).points == "0,1 1,1"


def test_it_is_read_again_until_the_end(tmp_path: Path) -> None:
    """The page refreshes itself while there is something to come; texts are escaped."""
    path = tmp_path / "live.html"
    for ended in (False, True):
        PageFile(path, "<b>").write(progress=0.25, rows=[("jobs", "3 & 4")], ended=ended)
        text = path.read_text()
        assert ('http-equiv="refresh"' in text) is not ended
        assert "<h1>&lt;b&gt;</h1>" in text
        assert "3 &amp; 4" in text
        assert '<progress max="1" value="0.25">' in text
    assert [file.name for file in tmp_path.iterdir()] == ["live.html"]


def test_many_states(tmp_path: Path) -> None:
    """Of a long run every other point is dropped, over and over."""
    page = LivePage(tmp_path / "live.html", "kth")
    for waiting in range(2 * MOST_POINTS):
        page.show(STATE.model_copy(update={"waiting": waiting}))
    page.close()
    (points, *_) = re.findall(r'points="([^"]*)"', (tmp_path / "live.html").read_text())
    assert MOST_POINTS / 2 <= len(points.split()) <= MOST_POINTS


def test_a_page_that_cannot_be_written(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The run goes on; it is warned of once."""
    page = LivePage(tmp_path / "none" / "live.html", "kth")
    for _ in range(3):
        page.show(STATE)
    assert [record.levelname for record in caplog.records] == ["WARNING"]


def test_of_a_run(tmp_path: Path) -> None:
    """A run leaves its last page, in which all jobs have ended, and no trace in its directory."""
    page, folder = tmp_path / "live.html", tmp_path / "run"
    given = ["run", str(write_scenario(tmp_path)), "--out", str(folder), "--page", str(page)]
    assert cli.main(given) == 0
    text = page.read_text()
    assert "It has ended." in text
    assert "4 ended" in text
    assert "core in use" in text
    plain = run(tmp_path / "small.yaml", tmp_path / "plain").directory
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        file.name for file in plain.path.iterdir()
    )
