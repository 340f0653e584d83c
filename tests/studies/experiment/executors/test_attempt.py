"""An attempt at a task: its folder, its program, and why that failed."""

import time
from pathlib import Path

import pytest

from hpcsched.studies.experiment.executors import attempt as attempts
from hpcsched.studies.experiment.executors.attempt import STOPPED, carry_out, new_attempt
from tests.studies.experiment.executors.programs import COPIES, FAILS, program

UNTIL_INPUT_ENDS = """
import pathlib, sys
here = pathlib.Path(sys.argv[1]).parent
(here / "begun").touch()
sys.stdin.read()
(here / "ended").touch()
"""
FOR_EVER = """
import pathlib, sys, time
(pathlib.Path(sys.argv[1]).parent / "begun").touch()
time.sleep(600)
"""


def test_two_attempts_at_a_task(tmp_path: Path) -> None:
    """Each has an empty folder of its own, with the task's name."""
    one, other = (new_attempt(tmp_path, "sjf_5") for _ in range(2))
    assert one != other
    assert {path.parent for path in (one, other)} == {tmp_path}
    assert all(path.name.startswith("sjf_5-") for path in (one, other))
    assert list(one.iterdir()) == []


def test_no_place_for_an_attempt(tmp_path: Path) -> None:
    """That is the operating system's error."""
    with pytest.raises(FileNotFoundError):
        new_attempt(tmp_path / "none", "sjf_5")


def test_a_program_that_does_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given the scenario, the run directory and the overrides; its words are in the log."""
    name = program(tmp_path, COPIES, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    assert carry_out(name, "name: é\n", attempt, ["trace.path=x", "seed=3"]) == ""
    assert (attempt / "scenario.yaml").read_text(encoding="utf-8") == "name: é\n"
    assert (attempt / "run" / "scenario.yaml").read_text(encoding="utf-8") == "name: é\n"
    assert (attempt / "run" / "overrides").read_text() == "trace.path=x\nseed=3"
    assert (attempt / "log").read_text() == "copied\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (FAILS, "no licence"),
        ("raise SystemExit(4)", "its process ended with exit code 4"),
        (
            "import os; print('half a li', flush=True); os.kill(os.getpid(), 9)",
            "its process was ended by signal 9",
        ),
        ("raise KeyError('x')", "KeyError: 'x'"),
    ],
    ids=["last line", "silent", "killed", "exception"],
)
def test_why_it_failed(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last line that it wrote, unless it was killed in the middle of one."""
    name = program(tmp_path, text, monkeypatch)
    assert carry_out(name, "", new_attempt(tmp_path, "a")) == why


def test_it_is_told_to_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its standard input ends, on which it may do what is left to do."""
    name = program(tmp_path, UNTIL_INPUT_ENDS, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    said = carry_out(name, "", attempt, stopped=(attempt / "begun").exists)
    assert said == STOPPED
    assert (attempt / "ended").exists()


def test_one_that_does_not_stop_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its time for stopping is limited."""
    monkeypatch.setattr(attempts, "GRACE", 0.05)
    name = program(tmp_path, FOR_EVER, monkeypatch)
    attempt = new_attempt(tmp_path, "a")
    began = time.monotonic()
    assert carry_out(name, "", attempt, stopped=(attempt / "begun").exists) == STOPPED
    assert time.monotonic() - began < 300
