"""The lock on a folder: one holder at a time, named to others, and none that a file keeps alone."""

import errno
import fcntl
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest

from hpcsched.runs.folder_lock import (
    LOCK,
    FolderLock,
    HeldError,
    Holder,
    RunProcess,
    is_alive,
    this_process,
)


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    """Another lock is refused with the name of the holder, until the first is released."""
    first = FolderLock(tmp_path).acquire()
    holder = Holder.model_validate_json((tmp_path / LOCK).read_text())
    assert holder.process == this_process()
    with pytest.raises(HeldError) as refused:
        FolderLock(tmp_path).acquire()
    assert str(refused.value) == str(holder)
    assert str(holder).startswith(f"process {os.getpid()} on {holder.process.host} since 20")
    # A refusal leaves the file to its holder.
    assert Holder.model_validate_json((tmp_path / LOCK).read_text()) == holder
    first.release()
    assert not (tmp_path / LOCK).exists()
    with FolderLock(tmp_path):
        pass


def test_a_context_holds_the_lock_once(tmp_path: Path) -> None:
    """A lock that is held already may be given to a context, which releases it."""
    with FolderLock(tmp_path).acquire() as lock:
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()
    lock.release()


def test_locks_of_other_names(tmp_path: Path) -> None:
    """Two locks of one folder do not exclude each other."""
    with FolderLock(tmp_path, ".one"), FolderLock(tmp_path, ".other"):
        assert sorted(path.name for path in tmp_path.iterdir()) == [".one", ".other"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_past_holds_nothing(tmp_path: Path) -> None:
    """Whatever an ended process left there, the lock of the system is free."""
    (tmp_path / LOCK).write_text(
        "a process that is gone, in a line longer than what comes after" * 9
    )
    with FolderLock(tmp_path):
        text = (tmp_path / LOCK).read_text()
        assert Holder.model_validate_json(text).process == this_process()


def test_a_holder_that_has_not_written_its_name(tmp_path: Path) -> None:
    """It holds the lock all the same."""
    with (tmp_path / LOCK).open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(HeldError, match="another process"):
            FolderLock(tmp_path).acquire()


def test_a_lock_file_that_goes_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock on a file that its last holder has just removed is none: it is taken anew."""
    flock = fcntl.flock
    calls: list[int] = []

    def removed_once(file: IO[str], how: int) -> None:
        flock(file, how)
        if not calls:
            (tmp_path / LOCK).unlink()
        calls.append(how)

    monkeypatch.setattr("fcntl.flock", removed_once)
    with FolderLock(tmp_path):
        assert len(calls) == 2
        assert (tmp_path / LOCK).exists()


@pytest.mark.parametrize(
    ("ticks", "host", "free"),
    [(0, None, False), (-1, None, True), (0, "elsewhere", False)],
    ids=["alive", "gone", "of another machine"],
)
def test_a_file_system_without_locks(
    ticks: int, host: str | None, free: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the file says decides: a process that is gone from this machine holds nothing.

    A process of the same number that started at another time is another one.
    """

    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    me = this_process()
    started = None if me.started_ticks is None else me.started_ticks + ticks
    mark = me.model_copy(update={"started_ticks": started, "host": host or me.host})
    (tmp_path / LOCK).write_text(Holder(process=mark, since="2026-01-01").model_dump_json())
    monkeypatch.setattr("fcntl.flock", unknown)
    if free:
        with FolderLock(tmp_path):
            pass
    else:
        with pytest.raises(
            HeldError, match=r"since 2026-01-01; if that one is gone, remove .*lock"
        ):
            FolderLock(tmp_path).acquire()


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
