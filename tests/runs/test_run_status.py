"""The status of a run is read from its manifest, its state and its process."""

from pathlib import Path
from typing import Any

import pytest

from hpcsched.errors import InputError, PluginError
from hpcsched.runs.folder_lock import this_process
from hpcsched.runs.manifest import failure_of, finish_manifest, read_manifest, start_manifest
from hpcsched.runs.run_status import status_content, status_of, status_text, write_state
from tests.runs.hand_made import JOBS, REJECTED, write_run
from tests.runs.test_state_views import STATE


def begun(folder: Path) -> Path:
    """Make the directory of a run that has begun, and return it."""
    folder.mkdir()
    start_manifest(folder, scenario="looked-at", seed=0, trace_files=[], plugins={})
    return folder


def going_on(folder: Path, **state: Any) -> Path:
    """Make the directory of a run with a state, in which some values are changed."""
    write_state(begun(folder), STATE.model_copy(update=state))
    return folder


def test_a_run_of_this_process(tmp_path: Path) -> None:
    """It goes on; its state is there, and no account of its jobs yet."""
    status = status_of(going_on(tmp_path / "here", solver={"optimal": 3, "overrun": 1}))
    assert (status.verdict, status.process_alive, status.jobs) == ("running", True, None)
    content = status_content(status)
    assert content["state"]["waiting"] == 3
    assert content["solver"] == {"asked": 4, "without_plan": {"overrun": 1}}
    lines = status_text(status).splitlines()
    assert lines[0] == "looked-at: running"
    pid, host = STATE.process.pid, STATE.process.host
    assert [line.split(None, 1)[1] for line in lines if "process" in line] == [f"{pid} on {host}"]


def test_a_number_that_another_process_has_now(tmp_path: Path) -> None:
    """A process of the same number that began at another time is not the run's."""
    this = this_process()
    if this.started_ticks is None:
        pytest.skip("the system does not tell when a process began")
    other = this.model_copy(update={"started_ticks": this.started_ticks + 1})
    status = status_of(going_on(tmp_path / "gone", process=other))
    assert (status.verdict, status.process_alive) == ("gone", False)
    text = status_text(status)
    assert text.startswith("looked-at: its process is gone: it was killed")
    assert f"{other.pid} on {other.host}, gone\n" in text


def test_a_run_on_another_machine(tmp_path: Path) -> None:
    """Its process cannot be looked for; its last word is what counts."""
    process = this_process().model_copy(update={"host": "another.example"})
    status = status_of(going_on(tmp_path / "far", process=process))
    content, text = status_content(status), status_text(status)
    assert (content["status"], content["process_alive"]) == ("running", None)
    assert content["seconds_since_written"] > 0
    assert "another machine" in text


def test_a_run_without_a_state(tmp_path: Path) -> None:
    """It may have begun just now."""
    status = status_of(begun(tmp_path / "new"))
    assert status.verdict == "unknown"
    assert "left no state" in status_text(status)


def test_a_run_that_failed_early(tmp_path: Path) -> None:
    """Its error is told, on one line of the text."""
    folder = begun(tmp_path / "failed")
    failure = failure_of(PluginError("solver x: no licence\nask for one"))
    finish_manifest(folder, read_manifest(folder), "failed", (), failure=failure)
    status = status_of(folder)
    content = status_content(status)
    assert (content["status"], content["error"], content["jobs"]) == ("failed", failure.text, None)
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
