"""One run where the core decides and one where Python does, in directories that can be compared."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import hpcsched
import hpcsched.runs.runner
from hpcsched.runs.files import JOBS, MANIFEST, ROUNDS, TIMING
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount

FORCED = "a test"
"""What keeps the core from deciding in the second run."""

CLOCK = ["decision_time"]


class ListedJobs:
    """A trace source of jobs that are given, as records."""

    comments: Sequence[str] = ()
    files: Sequence[Path] = ()

    def __init__(
        self, jobs: Sequence[TracedJob], uniform_request: tuple[int, ...] | None = None
    ) -> None:
        self._jobs, self.uniform_request = jobs, uniform_request
        self.account = TraceAccount()

    @property
    def fraction_read(self) -> float | None:
        """How much was read, which nobody knows."""
        return None

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs."""
        self.account = TraceAccount()
        for traced in self._jobs:
            self.account.read += 1
            self.account.submitted += 1
            yield traced


def in_both_loops(run: Callable[[Path], Any], folder: Path) -> tuple[Path, Path]:
    """Run where the core decides, and again where Python does; return the directories."""
    run(folder / "columns")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hpcsched.runs.runner, "obstacles", lambda _: [FORCED])
        run(folder / "python")
    # A trace that cannot be read at all is replayed in neither way.
    assert manifest(folder / "columns")["in_python"] == []
    assert manifest(folder / "python")["in_python"] == [FORCED]
    return folder / "columns", folder / "python"


def check_equal(compiled: Path, python: Path, *, but: str | None = None) -> None:
    """Compare two directories, but for what a clock measured."""
    names = [sorted(path.name for path in folder.iterdir()) for folder in (compiled, python)]
    assert names[0] == names[1]
    for name in set(names[0]) - {MANIFEST, ROUNDS, TIMING, but}:
        assert (compiled / name).read_bytes() == (python / name).read_bytes(), name
    rounds = [pq.read_table(folder / ROUNDS).drop_columns(CLOCK) for folder in (compiled, python)]
    assert rounds[0].equals(rounds[1])
    for name in (JOBS, ROUNDS):
        groups = [_group_sizes(folder / name) for folder in (compiled, python)]
        assert groups[0] == groups[1]
    for key in ("status", "trace_files", "trace_comments", "reproducible"):
        assert manifest(compiled)[key] == manifest(python)[key]


def manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run."""
    content: dict[str, Any] = json.loads((folder / MANIFEST).read_text())
    return content


def _group_sizes(path: Path) -> list[int]:
    metadata = pq.read_metadata(path)
    return [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
