"""The state file is read with care, and the process that wrote it recognised."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.monitoring.run_state import read_state, remove_state
from hpcsched.results.run_process import RunProcess, is_alive, this_process


def test_no_state(tmp_path: Path) -> None:
    """A run that has ended has none; taking it away twice does no harm."""
    assert read_state(tmp_path) is None
    remove_state(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "not JSON"),
        ("[]", "expected an object"),
        ('{"format": 99}', "it has format 99"),
        ('{"format": 1}', "scenario: Field required"),
    ],
)
def test_damaged(text: str, message: str, tmp_path: Path) -> None:
    """What is wrong is said, with the file."""
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_state(tmp_path)
    assert str(tmp_path / "state.json") in str(caught.value)


def test_damaged_instant(tmp_path: Path) -> None:
    """The instant must be one, with a time zone."""
    process = this_process().model_dump()
    times = {"mean": None, "last": None, "longest": None}
    counts = dict.fromkeys(("submitted", "waiting", "running", "ended", "rounds"), 0)
    for written in ("yesterday", "2020-01-01T00:00:00"):
        state = {
            "format": 1, "scenario": "s", "phase": "preparing", "process": process,
            "written": written, "elapsed": 0, "now": None, "progress": None,
            "decision_time": times, "resources": {}, **counts,
        }  # fmt: skip
        (tmp_path / "state.json").write_text(json.dumps(state))
        with pytest.raises(InputError, match="written"):
            read_state(tmp_path)


def test_a_process_is_alive_until_it_ends() -> None:
    """Also when nobody has asked yet how it ended."""
    assert is_alive(this_process()) is True
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        mark = RunProcess(pid=child.pid, host=this_process().host, started_ticks=None)
        assert is_alive(mark) is True
        child.kill()
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet fetched
        assert is_alive(mark) is False
        child.wait()
        assert is_alive(mark) is False


def test_a_number_that_was_given_anew_is_another_process() -> None:
    """The same number, started at another time."""
    mine = this_process()
    if mine.started_ticks is None:
        pytest.skip("this machine does not say when a process was started")
    later = mine.model_copy(update={"started_ticks": mine.started_ticks + 1})
    assert is_alive(later) is False


def test_a_process_of_another_machine() -> None:
    """Nothing is known of it."""
    assert is_alive(this_process().model_copy(update={"host": "another.example"})) is None
