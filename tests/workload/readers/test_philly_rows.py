"""The job log of Philly as rows, by hand."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import InputError
from hpcsched.workload.readers.table_rows import NAMES, PhillyRows


def job(*attempts: Any, **more: Any) -> dict[str, Any]:
    """Return a job of the log."""
    known = {"status": "Pass", "vc": "v", "jobid": "a_1", "user": "u", "submitted_time": "s"}
    return {**known, "attempts": list(attempts), **more}


def attempt(start: Any, end: Any, *gpus: int) -> dict[str, Any]:
    """Return an attempt with so many GPUs on each server."""
    detail = [{"ip": f"m{k}", "gpus": ["gpu"] * count} for k, count in enumerate(gpus)]
    return {"start_time": start, "end_time": end, "detail": detail}


@pytest.mark.parametrize(
    ("found", "values"),
    [
        (job(attempt("b", "e", 8, 4)), ["b", "e", 2, 12]),
        (job(attempt("b", "e", 2), attempt("c", "f", 4, 4)), ["b", "f", 1, 2]),
        (job(attempt("None", "e", 2), attempt("c", None, 4)), [None, None, 1, 2]),
        (job(attempt("b", "e")), ["b", "e", None, None]),
        (job(), [None, None, None, None]),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_attempts(tmp_path: Path, found: Any, values: list[Any], *, packed: bool) -> None:
    """From the first start to the last end; servers and GPUs are those of the first."""
    path = tmp_path / "cluster_job_log"
    content = json.dumps([found]).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    rows = PhillyRows(path)
    ((number, record),) = rows.records()
    assert number == 1
    row = rows.values(record)
    assert [row.get(name) for name in ("start_time", "end_time", "servers", "gpus")] == values
    assert rows.fraction_read == 1
    assert rows.files == [path]
    assert rows.names == NAMES


@pytest.mark.parametrize(
    "found",
    [
        3,
        None,
        {},
        job(attempts=3),
        job(3),
        job({"start_time": 1}),
        job(attempt(1, 2) | {"detail": 3}),
    ],
)
def test_no_job(tmp_path: Path, found: Any) -> None:
    """It is malformed, and does not end the reading."""
    path = tmp_path / "log"
    path.write_text(json.dumps([found]))
    rows = PhillyRows(path)
    ((_, record),) = rows.records()
    with pytest.raises(ValueError, match="expected a job with attempts"):
        rows.values(record)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{}", "expected the job log of Philly, a list of jobs"),
        (b"job,user\n", "cluster_job_log.*, which is JSON"),
        (gzip.compress(b"[]", mtime=0)[:-3], "expected a whole compressed file"),
        pytest.param(b"[" * 100_000, "which is JSON", id="deep"),
    ],
)
def test_another_file(tmp_path: Path, content: bytes, message: str) -> None:
    """One message says what is expected."""
    path = tmp_path / "log"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        PhillyRows(path)
    with pytest.raises(InputError, match="cannot be read"):
        PhillyRows(tmp_path / "missing")
