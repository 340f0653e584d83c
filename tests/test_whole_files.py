"""A file appears whole under its name, or the old one stays."""

import errno
from pathlib import Path

import pytest

from hpcsched.errors import InputError
from hpcsched.whole_files import cannot_write, check_target, make_folder, replacing


def write(path: Path, text: str, *, force: bool = False) -> None:
    """Write a file in the manner of this module."""
    with replacing(path, force=force) as unfinished:
        unfinished.write_text(text)


def test_it_appears_at_the_end(tmp_path: Path) -> None:
    """While it is written, there is nothing under its name."""
    path = tmp_path / "file"
    with replacing(path, force=False) as unfinished:
        unfinished.write_text("whole")
        assert not path.exists()
        assert unfinished.parent == tmp_path
    assert path.read_text() == "whole"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_there(tmp_path: Path) -> None:
    """It is replaced only by force."""
    path = tmp_path / "file"
    write(path, "old")
    with pytest.raises(
        InputError, match=r"it is there already; --force or force=True replaces it \[file-exists"
    ):
        write(path, "new")
    assert path.read_text() == "old"
    write(path, "new", force=True)
    assert path.read_text() == "new"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    """What was begun is removed, and the error is that of the writer."""
    path = tmp_path / "file"
    write(path, "old")
    with pytest.raises(ZeroDivisionError), replacing(path, force=True) as unfinished:
        unfinished.write_text("half")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_target_that_becomes_a_directory(tmp_path: Path) -> None:
    """A file that cannot be put in its place is told of, and is removed."""
    path = tmp_path / "file"
    with (
        pytest.raises(InputError, match=r"it cannot be written: Is a directory \[cannot-write\]"),
        replacing(path, force=True) as unfinished,
    ):
        unfinished.write_text("whole")
        path.mkdir()
    assert list(tmp_path.iterdir()) == [path]


def test_targets(tmp_path: Path) -> None:
    """A new name is right, a directory is wrong even by force."""
    check_target(tmp_path / "new", force=False)
    for force in (False, True):
        with pytest.raises(InputError, match=r"it is a directory \[cannot-write\]"):
            check_target(tmp_path, force=force)


def test_folders(tmp_path: Path) -> None:
    """One is made with those above it, unless it exists; a file is in the way."""
    for _ in range(2):
        make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match=r"it cannot be written: File exists \[cannot-write\]"):
        make_folder(tmp_path / "file")
    with pytest.raises(InputError, match=r"below: error: it cannot be written: Not a directory"):
        make_folder(tmp_path / "file" / "below")


def test_the_reason_is_named() -> None:
    """The system's words, or those of the error where the system has none."""
    full = OSError(errno.ENOSPC, "No space left on device")
    assert "it cannot be written: No space left" in str(cannot_write(Path("file"), full))
    assert "it cannot be written: odd" in str(cannot_write(Path("file"), OSError("odd")))
