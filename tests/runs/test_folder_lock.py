"""The lock on a folder: one holder at a time, named to others, and none that a file keeps alone."""

import errno
import fcntl
import os
import socket
from pathlib import Path
from typing import IO

import pytest

from hpcsched.runs.folder_lock import LOCK, FolderLock, HeldError, holder_of


def test_one_holder_at_a_time(tmp_path: Path) -> None:
    """Another lock is refused with the name of the holder, until the first is released."""
    first = FolderLock(tmp_path).acquire()
    holder = holder_of(tmp_path)
    assert holder is not None
    assert holder.startswith(f"process {os.getpid()} on {socket.gethostname()} since 20")
    with pytest.raises(HeldError) as refused:
        FolderLock(tmp_path).acquire()
    # A refusal leaves the file to its holder.
    assert str(refused.value) == holder == holder_of(tmp_path)
    first.release()
    assert holder_of(tmp_path) is None
    assert not (tmp_path / LOCK).exists()
    with FolderLock(tmp_path).acquire() as lock:
        assert (tmp_path / LOCK).exists()
    assert not (tmp_path / LOCK).exists()
    lock.release()


def test_locks_of_other_names(tmp_path: Path) -> None:
    """Two locks of one folder do not exclude each other."""
    with FolderLock(tmp_path, ".one").acquire(), FolderLock(tmp_path, ".other").acquire():
        assert sorted(path.name for path in tmp_path.iterdir()) == [".one", ".other"]
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_the_past_holds_nothing(tmp_path: Path) -> None:
    """Whatever an ended process left there, the lock of the system is free."""
    (tmp_path / LOCK).write_text("a process that is gone" * 9)
    assert holder_of(tmp_path) is None
    with FolderLock(tmp_path).acquire():
        assert "gone" not in (tmp_path / LOCK).read_text()


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
    with FolderLock(tmp_path).acquire():
        assert len(calls) == 2
        assert (tmp_path / LOCK).exists()


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is kept out; a file that is there names a process that may still be at work."""

    def unknown(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", unknown)
    assert holder_of(tmp_path) is None
    with FolderLock(tmp_path).acquire(), FolderLock(tmp_path).acquire():
        assert f"process {os.getpid()}" in str(holder_of(tmp_path))


def test_a_fork_leaves_the_lock_to_its_parent(tmp_path: Path) -> None:
    """It can neither release the lock nor keep it for a parent that has ended."""
    lock = FolderLock(tmp_path).acquire()
    child = os.fork()
    if not child:
        lock.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert holder_of(tmp_path) is not None
    lock.release()
