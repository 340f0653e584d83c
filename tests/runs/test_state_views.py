"""A state is shown on a terminal, as lines, and in a file."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from hpcsched.runs.folder_lock import this_process
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
    simulated,
    state_line,
)
from hpcsched.runs.terminal_views import PATIENCE, LiveScreen, drawn
from hpcsched.runs.watching import StateFile, StateLines

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
