"""All flaws of a log are told at once, with what settles them."""

from pathlib import Path

import pytest

from hpcsched import cli
from hpcsched.runs.refused_records import Refused, refused_records
from hpcsched.scenario import load_scenario
from tests.runs.small_scenario import LOG, write_scenario

FLAWED = (
    LOG
    + """\
5 8 -1 30 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1
6 9 -1 30 1 -1 -1 1 -1 -1 1 2 -1 -1 -1 -1 -1 -1
this is no record
7 2 -1 30 1 -1 -1 1 30 -1 1 2 -1 -1 -1 -1 -1 -1
"""
)
"""Two jobs without a requested time, a line that is none, and a job out of order."""


def test_all_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The first flaw as before, then a count of all, at the trace of the scenario."""
    path = write_scenario(tmp_path)
    (tmp_path / "log.swf").write_text(FLAWED)
    assert refused_records(load_scenario(path)) == [
        Refused("missing_requested_time", 2, ("run_time", "skip")),
        Refused("unsorted", 1, ("skip", "sort")),
        Refused("malformed", 1, ("skip",)),
    ]
    out = tmp_path / "run"
    assert cli.main(["run", str(path), "--out", str(out)]) == 1
    first, of_all = capsys.readouterr().err.splitlines()
    assert first.startswith(f"{tmp_path / 'log.swf'}:5: error: no requested time is given")
    assert of_all == (
        f"{path}:3:8: error: trace: 4 records are refused in all; keys of the trace settle them:"
        " missing_requested_time: run_time or skip (2 of them), unsorted: skip or sort (1 of them),"
        " malformed: skip (1 of them) [refused-records]"
    )
    # What the sentence says does settle them.
    settled = "{source: swf, path: log.swf, missing_requested_time: run_time, unsorted: sort"
    text = path.read_text().replace("{source: swf, path: log.swf", f"{settled}, malformed: skip")
    path.write_text(text)
    assert cli.main(["run", str(path), "--out", str(out), "--force"]) == 0
    assert "8 records read, 7 jobs submitted" in capsys.readouterr().out


def test_a_single_flaw(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One is told once."""
    path = write_scenario(tmp_path)
    (tmp_path / "log.swf").write_text(LOG + "this is no record\n")
    assert cli.main(["run", str(path), "--out", str(tmp_path / "run")]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_another_machine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two of four jobs need two nodes: on one node they are left out, which is warned of."""
    path = write_scenario(tmp_path)
    given = ["run", str(path), "--out", str(tmp_path / "run"), "--force"]
    assert cli.main(given) == 0
    assert capsys.readouterr().err == ""
    path.write_text(path.read_text().replace("count: 2", "count: 1"))
    assert cli.main(given) == 0
    assert capsys.readouterr().err == (
        f"{path}:2:9: warning: system: 2 of 4 records ask for more than the whole system and were"
        " left out; is it the system of this trace? [larger-than-system]\n"
    )
