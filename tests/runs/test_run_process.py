"""The process of a run, and whether it is alive."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsched.runs.folder_lock import RunProcess, is_alive, this_process


def test_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is known by number, machine and start; the program's name may hold brackets and spaces."""
    stat = tmp_path / str(os.getpid()) / "stat"
    stat.parent.mkdir()
    # The start is the 22nd field, the 20th after the name.
    after = " ".join(["S", *(str(k) for k in range(4, 22)), "4711", "23"])
    stat.write_text(f"{os.getpid()} (a) b (c 1 2) {after}\n")
    monkeypatch.setattr("hpcsched.runs.folder_lock.PROC", tmp_path)
    mine = RunProcess(pid=os.getpid(), host=socket.gethostname(), started_ticks=4711)
    assert this_process() == mine
    assert is_alive(mine) is True
    stat.unlink()
    # Without that file a process is known by its number alone.
    assert this_process().started_ticks is None
    assert is_alive(mine) is True


def test_a_number_that_no_process_can_have() -> None:
    """A damaged state may hold any number."""
    mine = this_process()
    assert is_alive(mine.model_copy(update={"pid": 2**70})) is False


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
