"""Folders of compiled code, and how long it took to compile."""

import logging
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
