"""The status of a run is read from its manifest, its state and its process."""

import io
import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from hpcsched.errors import InputError, PluginError
from hpcsched.runs.folder_lock import this_process
from hpcsched.runs.manifest import failure_of, finish_manifest, read_manifest, start_manifest
from hpcsched.runs.run_status import (
    STATE_FORMAT,
    DecisionTimes,
    NodesState,
    ResourceState,
    RunState,
    SharedResourceState,
    amount,
    duration,
    instant,
    read_state,
    real,
    remove_state,
    simulated,
    state_line,
    status_content,
    status_of,
    status_text,
    write_state,
)
from hpcsched.runs.terminal_views import PATIENCE, LiveScreen, drawn
from hpcsched.runs.watching import StateFile, StateLines
from tests.runs.hand_made import JOBS, REJECTED, write_run


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
        ('{"format": 1}', "scenario: Field required"),
    ],
)
def test_damaged(text: str, message: str, tmp_path: Path) -> None:
    """What is wrong is said, with the file."""
    (tmp_path / "state.json").write_text(text)
    with pytest.raises(InputError, match=message) as caught:
        read_state(tmp_path)
    assert str(tmp_path / "state.json") in str(caught.value)


def test_damaged_instant(tmp_path: Path) -> None:
    """The instant must be one, with a time zone."""
    process = this_process().model_dump()
    times = {"mean": None, "last": None, "longest": None}
    counts = dict.fromkeys(("submitted", "waiting", "running", "ended", "rounds"), 0)
    for written in ("yesterday", "2020-01-01T00:00:00"):
        state = {
            "format": 1, "scenario": "s", "phase": "preparing", "process": process,
            "written": written, "elapsed": 0, "now": None, "progress": None,
            "decision_time": times, "resources": {}, **counts,
        }  # fmt: skip
        (tmp_path / "state.json").write_text(json.dumps(state))
        with pytest.raises(InputError, match="written"):
            read_state(tmp_path)


STATE = RunState(
    format=STATE_FORMAT,
    scenario="looked-at",
    phase="replaying",
    process=this_process(),
    written=instant(),
    elapsed=75.2,
    now=2 * 86_400 + 3 * 3600 + 4 * 60 + 5,
    progress=0.25,
    submitted=1010,
    waiting=3,
    running=7,
    ended=1000,
    rounds=1500,
    decision_time=DecisionTimes(mean=0.0005, last=0.002, longest=1.5),
    resources={
        "core": ResourceState(capacity=64, free=16, utilization_last_day=0.625),
        "mem": ResourceState(capacity=2**42, free=2**40, utilization_last_day=None),
    },
)


def test_line() -> None:
    """All that is asked for is in the line."""
    assert state_line(STATE) == (
        "looked-at: replaying; 25.0%; at day 2 03:04:05; 3 waiting, 7 running, 1,000 ended;"
        " free: core 25.0%, mem 25.0%; decisions: mean 0.5 ms, last 2 ms"
    )


def test_the_estimated_rest() -> None:
    """It stands behind the share, in the line and on the screen."""
    state = fresh().model_copy(update={"remaining": 225.0})
    assert "; 25.0%, about 3 min 45 s left; at day 2" in state_line(state)
    assert "25.0%, about 3 min 45 s left" in on_screen(state)


def with_shared_resources_and_outages() -> RunState:
    """Return the state of a system with two shared resources, one offering nothing, and outages."""
    shared_resources = {
        "power": SharedResourceState(capacity=6000, drawn=4500),
        "licence": SharedResourceState(capacity=0, drawn=2),
    }
    nodes = NodesState(count=1200, down=3)
    return fresh().model_copy(update={"shared_resources": shared_resources, "nodes": nodes})


def test_shared_resources_and_nodes_out_of_service() -> None:
    """They have a row each on the screen and a part each of the line, where there are any."""
    state = with_shared_resources_and_outages()
    rows = [" ".join(row.split()) for row in on_screen(state).splitlines()]
    assert rows[-3:] == [
        "power 4,500 drawn, of 6,000 offered (75.0%)",
        "licence 2 drawn, of 0 offered (none is offered)",
        "nodes 3 of 1,200 out of service",
    ]
    assert (
        "; drawn: power 75.0%, licence none is offered; 3 nodes out of service; decisions"
        in state_line(state)
    )


def test_line_before_the_first_round() -> None:
    """What is not known is left out."""
    update = {
        "phase": "preparing",
        "now": None,
        "progress": None,
        "decision_time": DecisionTimes(mean=None, last=None, longest=None),
    }
    line = state_line(STATE.model_copy(update=update))
    assert line == (
        "looked-at: preparing; 3 waiting, 7 running, 1,000 ended; free: core 25.0%, mem 25.0%"
    )


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (simulated(0), "day 0 00:00:00"),
        (simulated(86_399), "day 0 23:59:59"),
        (duration(59.44), "59.4 s"),
        (duration(59.96), "1 min 0 s"),
        (duration(3725), "1 h 2 min"),
        (real(0.000123), "0.123 ms"),
        (real(20.5), "20.50 s"),
        (amount(5000), "5,000"),
        (amount(128 * 2**30), "128 Gi"),
        (amount(2**80), "1.049e+06 Ei"),
    ],
)
def test_units(found: str, expected: str) -> None:
    """Each figure has a unit that suits its size."""
    assert found == expected


def test_lines_are_written_at_once() -> None:
    """One a state."""
    out = io.StringIO()
    view = StateLines(out)
    view.show(STATE)
    view.show(STATE)
    view.close()
    assert out.getvalue().splitlines() == [state_line(STATE)] * 2


def fresh() -> RunState:
    """Return the state as if it were written now."""
    return STATE.model_copy(update={"written": instant()})


def on_screen(state: RunState) -> str:
    """Return a state as it is drawn, without colours."""
    console = Console(file=io.StringIO(), width=100)
    console.print(drawn(state))
    return console.file.getvalue()


def test_screen() -> None:
    """Each figure has a row; the title and the bar have rows of their own."""
    title, bar, *rows = on_screen(fresh()).splitlines()
    assert title.strip() == "looked-at"
    assert set(bar) <= set("━╸╺ ") and "━" in bar
    shown = [" ".join(row.split()) for row in rows]
    assert shown == [
        "doing replaying, for 1 min 15 s",
        "progress 25.0%",
        "simulated time day 2 03:04:05 (183,845 s)",
        "jobs 3 waiting, 7 running, 1,000 ended, of 1,010 submitted",
        "decisions 1,500 rounds: mean 0.5 ms, last 2 ms, longest 1.50 s",
        "core 16 of 64 free (25.0%), 62.5% used over the last simulated day",
        "mem 1 Ti of 4 Ti free (25.0%)",
    ]


def test_an_old_state_says_so() -> None:
    """While a dispatcher thinks for long, nothing on the screen changes but its age."""
    old = STATE.model_copy(update={"written": "2020-01-01T00:00:00.000+00:00"})
    assert fresh().age() < PATIENCE < old.age()
    assert "as of" in on_screen(old)
    assert "as of" not in on_screen(fresh())


def test_live_screen_is_cleared() -> None:
    """It shows the state while it is open, and gives the terminal back."""
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=100)
    view = LiveScreen(console, interval=0.01)
    view.close()  # a run that fails before its first state
    view.show(STATE)
    view.show(STATE)
    assert "looked-at" in out.getvalue()
    view.close()
    assert out.getvalue().endswith("\x1b[2K")  # the last line of the screen is erased


def test_state_file(tmp_path: Path) -> None:
    """What is written is read back; a later state replaces it; closing leaves it there."""
    view = StateFile(tmp_path)
    view.show(STATE)
    assert read_state(tmp_path) == STATE
    later = STATE.model_copy(update={"waiting": 4})
    view.show(later)
    view.close()
    assert read_state(tmp_path) == later
    assert [path.name for path in tmp_path.iterdir()] == ["state.json"]


def test_a_state_that_cannot_be_written_ends_no_run(tmp_path: Path) -> None:
    """It is tried again later, and less often."""
    view = StateFile(tmp_path / "gone", interval=1)
    view.show(STATE)
    assert view.interval == 60
    (tmp_path / "gone").mkdir()
    view.show(STATE)
    assert read_state(tmp_path / "gone") == STATE
