"""Copies of the answers of programs in a run directory."""

from pathlib import Path
from zipfile import ZipFile

import pytest

from hpcsched.errors import InputError
from hpcsched.runs.files import TRACE_ANSWERS
from hpcsched.runs.manifest import (
    Manifest,
    keep_answers,
    keeps_answers,
    kept_answers,
    start_manifest,
)
from hpcsched.workload.trace_source import TraceAnswer

ANSWERS = [TraceAnswer("unix:/s/jobs", b"[1]" * 1000), TraceAnswer("unix:/s/users", b"")]


def manifest(folder: Path, answers: list[TraceAnswer]) -> Manifest:
    """Return the manifest of a run that read answers."""
    return start_manifest(
        folder, scenario="x", seed=1, trace_files=(), plugins={}, trace_answers=answers
    )


def test_kept(tmp_path: Path) -> None:
    """Answers come back with their names; equal answers are equal files."""
    keep_answers(tmp_path, ANSWERS)
    path = tmp_path / TRACE_ANSWERS
    content = path.read_bytes()
    assert len(content) < 500
    assert kept_answers(tmp_path, manifest(tmp_path, ANSWERS)) == tuple(ANSWERS)
    path.unlink()
    keep_answers(tmp_path, ANSWERS)
    assert path.read_bytes() == content
    assert not list(tmp_path.glob(".*"))


def test_none(tmp_path: Path) -> None:
    """A run that asked nobody has no file; one that lost its copies has no answers."""
    keep_answers(tmp_path, [])
    assert not keeps_answers(tmp_path)
    assert kept_answers(tmp_path, manifest(tmp_path, ANSWERS)) == ()


def test_damaged(tmp_path: Path) -> None:
    """A file that is no archive, or lacks an answer, is one clear message."""
    (tmp_path / TRACE_ANSWERS).write_bytes(b"PK")
    with pytest.raises(InputError, match=r"trace_answers\.zip: .*it is damaged"):
        kept_answers(tmp_path, manifest(tmp_path, ANSWERS))
    with ZipFile(tmp_path / TRACE_ANSWERS, "w") as file:
        file.writestr("answer-1", b"")
    with pytest.raises(InputError, match=r"it is damaged: .*answer-2"):
        kept_answers(tmp_path, manifest(tmp_path, ANSWERS))
    with pytest.raises(InputError, match="it cannot be written"):
        keep_answers(tmp_path / "none", ANSWERS)
