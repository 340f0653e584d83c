"""Folders of compiled code, and how long it took to compile."""

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

from hpcsched.dispatching.core import compile_record
from hpcsched.dispatching.core.compile_record import (
    RECORD,
    cache_folders,
    expected_seconds,
    not_kept,
    record_seconds,
)

DOUBLING = """\
from hpcsched.dispatching.core.compiled import compiled

@compiled()
def twice(number):
    return 2 * number
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The named one alone, if it can be written; else beside the module, and at home."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "named"))
    assert list(cache_folders("/a/b.py")) == [tmp_path / "named"]
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert list(cache_folders("/a/b.py")) == [Path("/a/__pycache__"), tmp_path / "hpcsched"]


@pytest.mark.parametrize(
    ("place", "mode", "private"),
    [
        ("code", 0o755, True),
        ("code", 0o777, False),
        ("code", 0o1777, False),  # others can put files there, though not change mine
        ("code", 0o775, False),
        (".", 0o777, False),
        (".", 0o1777, True),
    ],
)
def test_a_folder_that_others_can_write(
    folder: Path, monkeypatch: pytest.MonkeyPatch, *, place: str, mode: int, private: bool
) -> None:
    """It is left out, as the code in it would run."""
    folder.mkdir()
    (folder.parent / place).chmod(mode)
    # A group that other users are in.
    monkeypatch.setattr(compile_record, "_may_change", lambda _beside, _group: False)
    assert (folder in list(cache_folders())) is private


def test_a_folder_of_another_user(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever made it can write there."""
    folder.mkdir()
    assert folder in list(cache_folders())
    os.chown(folder, 12_345, -1) if os.getuid() == 0 else monkeypatch.setattr(
        os, "getuid", lambda: 12_345
    )
    assert folder not in list(cache_folders())


def test_code_in_a_folder_that_others_can_write_is_not_run(tmp_path: Path) -> None:
    """What another user put there is neither loaded nor replaced, by numba's cache either."""
    (tmp_path / "doubling.py").write_text(DOUBLING)
    code = tmp_path / "code"
    run = [sys.executable, "-c", "import doubling; print(doubling.twice(3))"]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(code)}
    subprocess.run(run, cwd=tmp_path, env=environment, check=True)
    kept = {path: path.stat().st_atime_ns for path in code.rglob("*.nbi")}
    assert kept
    code.chmod(0o777)
    for path in kept:
        path.write_bytes(b"not numba's")
    done = subprocess.run(
        run, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    assert done.stdout == "6\n"
    assert "other users can write" in done.stderr
    assert [path.read_bytes() for path in kept] == [b"not numba's"] * len(kept)


def test_nowhere_to_keep_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where no folder can be written it is told once, with those that were tried."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    not_kept.cache_clear()
    with caplog.at_level(logging.WARNING):
        not_kept()
        not_kept()
    not_kept.cache_clear()
    (message,) = caplog.messages
    beside = Path(compile_record.__file__).parent / "__pycache__"
    assert message == (
        "compiled code cannot be kept, so that each command compiles it anew: none of these"
        f" folders can be written: {tmp_path}/file, {beside}, {tmp_path}/file/hpcsched; set"
        " NUMBA_CACHE_DIR to one that can"
    )


@pytest.mark.parametrize("content", ["", "[1]", '{"a": "x"}', "\x00"])
def test_damaged_record(content: str, folder: Path) -> None:
    """It counts as empty, and is written anew."""
    folder.mkdir()
    (folder / RECORD).write_text(content)
    assert expected_seconds("a") is None
    record_seconds("ba", 12.34)
    assert expected_seconds("ab") == 12.3
