"""The status of a run is read from its manifest, its state and its process."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hpcsched.errors import InputError, PluginError
from hpcsched.runs.folder_lock import FolderLock
from hpcsched.runs.manifest import error_text, finish_manifest, read_manifest, start_manifest
from hpcsched.runs.run_status import (
    STATE_FORMAT,
    ResourceState,
    RunState,
    read_state,
    remove_state,
    status_content,
    status_of,
    status_text,
    write_state,
)
from tests.runs.hand_made import JOBS, REJECTED, write_run

STATE = RunState(
    format=STATE_FORMAT,
    scenario="looked-at",
    phase="replaying",
    pid=4711,
    host="here.example",
    written=datetime.now(UTC),
    elapsed=75.2,
    now=2 * 86_400 + 3 * 3600 + 4 * 60 + 5,
    progress=0.25,
    submitted=1010,
    waiting=3,
    running=7,
    ended=1000,
    rounds=1500,
    decision_time=0.0005,
    resources={"core": ResourceState(capacity=64, used=16)},
    solver={"optimal": 3, "overrun": 1},
)


def begun(folder: Path) -> Path:
    """Make the directory of a run that has begun, and return it."""
    folder.mkdir()
    start_manifest(folder, scenario="looked-at", seed=0, trace_files=[], plugins={})
    return folder


def test_a_run_in_progress(tmp_path: Path) -> None:
    """Its process holds the lock; its state is there, and no account of its jobs yet."""
    folder = begun(tmp_path / "here")
    write_state(folder, STATE)
    with FolderLock(folder).acquire():
        status = status_of(folder)
    assert (status.verdict, status.state, status.jobs) == ("running", STATE, None)
    content = status_content(status)
    assert content["state"]["waiting"] == 3
    assert content["solver"] == {"asked": 4, "without_plan": {"overrun": 1}}
    first, started, process, _, *lines = map(str.split, status_text(status).splitlines())
    assert (first, started[0]) == (["looked-at:", "running"], "started")
    assert [" ".join(line) for line in lines[:6]] == [
        "doing replaying, for 0:01:15",
        "progress 25.0%, about 0:03:46 left",
        "simulated time 2 days, 3:04:05 (183,845 s)",
        "jobs 3 waiting, 7 running, 1,000 ended, of 1,010 submitted",
        "decisions 1,500 rounds: mean 0.5 ms",
        "core 16 of 64 in use (25.0%)",
    ]
    assert " ".join(process) == "process 4711 on here.example"


def test_a_run_that_was_killed(tmp_path: Path) -> None:
    """Nobody holds its lock, whether it left a state or not."""
    folder = begun(tmp_path / "gone")
    assert status_of(folder).verdict == "gone"
    write_state(folder, STATE)
    assert status_of(folder).state == STATE
    assert status_text(status_of(folder)).startswith(
        "looked-at: its process is gone: it was killed"
    )


def test_a_run_that_failed_early(tmp_path: Path) -> None:
    """Its error is told, on one line of the text."""
    folder = begun(tmp_path / "failed")
    error = error_text(PluginError("solver x: no licence\nask for one"))
    finish_manifest(folder, read_manifest(folder), "failed", (), error=error)
    status = status_of(folder)
    content = status_content(status)
    assert (content["status"], content["error"], content["jobs"]) == ("failed", error, None)
    assert "  error     solver x: no licence; ask for one\n" in f"{status_text(status)}\n"


def test_an_interrupted_run(tmp_path: Path) -> None:
    """At 61, job 2 has ended, 1 and 5 run, 8 was rejected, and 3, 4, 6 and 7 wait."""
    write_run(tmp_path / "run", (*JOBS, REJECTED), status="interrupted", until=61)
    status = status_of(tmp_path / "run")
    assert status.verdict == "interrupted"
    lines = status_text(status).splitlines()
    assert lines[0] == "by-hand: interrupted; what was done until then is there"
    assert lines[-1] == ("  jobs      8 submitted, 1 completed, 1 rejected, 4 waiting, 2 running")
    content = status_content(status)
    assert (content["state"], content["jobs"]["completed"]) == (None, 1)


def test_damaged_files(tmp_path: Path) -> None:
    """A damaged state is an error that names it; an ended run without a summary has still ended."""
    folder = begun(tmp_path / "damaged")
    (folder / "state.json").write_text("{")
    with pytest.raises(InputError, match=r"state\.json"):
        status_of(folder)
    run = write_run(tmp_path / "run")
    (run.path / "summary.json").unlink()
    status = status_of(run.path)
    assert (status.verdict, status.jobs, status.solver) == ("complete", None, None)
    assert "jobs" not in status_text(status)


def test_not_a_run(tmp_path: Path) -> None:
    """A path that is no directory, and a directory without a manifest."""
    with pytest.raises(InputError, match="it is not a directory"):
        status_of(tmp_path / "none")
    with pytest.raises(InputError, match="it is not a run directory"):
        status_of(tmp_path)


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
        (json.dumps({"format": STATE_FORMAT}), "scenario: Field required"),
        (STATE.model_dump_json().replace("+00:00", "").replace("Z", ""), "written: "),
    ],
)
def test_damaged(text: str, message: str, tmp_path: Path) -> None:
    """What is wrong is said, with the file."""
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_state(tmp_path)
    assert str(tmp_path / "state.json") in str(caught.value)


def test_state_file(tmp_path: Path) -> None:
    """What is written is read back; a later state replaces it."""
    for waiting in (3, 4):
        state = STATE.model_copy(update={"waiting": waiting})
        write_state(tmp_path, state)
        assert read_state(tmp_path) == state
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]
