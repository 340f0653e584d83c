"""Log messages about rounds and about a state that cannot be written."""

import logging
from pathlib import Path

import pytest

from hpcsched.dispatching.decision import SolverCall
from hpcsched.errors import InputError
from hpcsched.runs import watching
from hpcsched.runs.monitor import SLOW, log_round
from tests.builders import alike, traced
from tests.runs.test_monitor import follow

FAILED = SolverCall("failed", 3, 9, None, None, 0.0, 0.0, 0.0, "ValueError:\n no luck")


def test_slow_rounds_and_solvers_without_a_plan(caplog: pytest.LogCaptureFixture) -> None:
    """A round is logged from one second on, and where its solver had no plan, with the reason."""
    caplog.set_level(logging.INFO, "hpcsched")
    log_round(1, 60, 4, SLOW / 2)
    log_round(2, 90, 4, SLOW / 2, FAILED._replace(status="feasible", why=""))
    assert caplog.messages == []
    log_round(3, 120, 4, 1.5)
    log_round(4, 150, 5, SLOW / 2, FAILED)
    assert caplog.messages == [
        "round 3 at 120 s was slow: 1.50 s with 4 queued jobs",
        "round 4 at 150 s: the solver had no plan: failed: ValueError: no luck",
    ]


def test_the_monitor_logs_rounds(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each round of a replay goes through the log."""
    caplog.set_level(logging.INFO, "hpcsched")
    monkeypatch.setattr("hpcsched.runs.monitor.SLOW", 0.0)
    follow(alike(2, core=2), [traced(1, 0, 2, 100), traced(2, 10, 3, 50)])
    assert [message.split(" was slow")[0] for message in caplog.messages] == [
        "round 1 at 0 s",
        "round 2 at 10 s",
        "round 3 at 100 s",
    ]


def test_a_state_that_cannot_be_written_is_warned_of_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on; the warning is shown without --verbose."""

    def fail(*_: object) -> None:
        raise InputError([])

    monkeypatch.setattr(watching, "write_state", fail)
    view = watching.StateFile(tmp_path)
    (state, *_) = follow(alike(1, core=1), [traced(1, 0, 1, 5)])
    view.show(state)
    view.show(state)
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "`hpcsched status` shows an old state" in caplog.messages[0]
