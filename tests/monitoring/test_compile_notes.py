"""Notes while code is compiled: once at the begin, then at intervals, with an estimate."""

import logging
from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from hpcsched.cli.logs import show_logs
from hpcsched.dispatching.core.compile_record import RECORD, expected_seconds
from hpcsched.dispatching.core.compile_time import (
    compiling,
    seconds_deciding,
    tell_of_compiling,
    told_of_compiling,
)
from hpcsched.monitoring import compile_notes
from hpcsched.monitoring.compile_notes import COMPILING, CompileNotes
from tests.terminal import error_terminal


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


def test_first_time(folder: Path) -> None:
    """Nothing is known of the time yet; it is told once, however much is compiled."""
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append, 0.2)):
        for name in ("a", "b"):
            with compiling(anew=True, names=(name,)):
                sleep(0.3)
    assert told == [f"{COMPILING}, some tens of seconds)"]
    assert (folder / RECORD).is_file()


def test_less_than_a_second() -> None:
    """A short wait needs no note, on a terminal or elsewhere."""
    told: list[str] = []
    for notes in (CompileNotes(told.append), CompileNotes(update=told.append)):
        with told_of_compiling(notes), compiling(anew=True, names="a"):
            pass
    assert told == []


def test_estimate(folder: Path) -> None:
    """The time of the last compilation on this machine is told, and how far it is."""
    folder.mkdir()
    (folder / RECORD).write_text('{"a b": 0.15}')
    assert expected_seconds(["b", "a"]) == 0.15
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append, 0.06)), compiling(anew=True, names="ba"):
        sleep(0.5)
    assert told[:2] == [f"{COMPILING}, about 0 s)", "still compiling: 0 s of about 0 s"]
    assert told[-1].endswith("s, longer than expected")
    assert expected_seconds("ab") >= 0.5


class Clock:
    """A clock that is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        """Return the real seconds."""
        return self.now


def test_estimate_from_the_share_that_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """A quarter is done after 5 s, and half after 12 s: 20 s, then 24 s."""
    clock = Clock()
    monkeypatch.setattr(compile_notes, "monotonic", clock)
    noted = CompileNotes(lambda _: None).begins("a")
    clock.now += 2
    noted.proceeds(0.01)  # which says nothing yet
    assert noted.state() == "2 s so far"
    clock.now += 3
    noted.proceeds(0.25)
    assert noted.state() == "5 s of about 20 s"
    clock.now += 7
    noted.proceeds(0.5)
    assert noted.state() == "12 s of about 24 s"
    clock.now += 12
    assert noted.state() == "24 s so far"
    noted.ends(24.0)
    again = CompileNotes(lambda _: None).begins("a")
    clock.now += 4
    again.proceeds(0.5)  # 8 s, but the last time is better known
    assert again.state() == "4 s of about 24 s"
    clock.now += 21
    again.proceeds(0.5)
    assert again.state() == "25 s of about 50 s"
    clock.now += 26
    assert again.state() == "51 s, longer than expected"
    again.ends(None)


def test_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a terminal one line is written again and again, and removed at the end."""
    monkeypatch.setattr(compile_notes, "UPDATES", 0.05)
    shown: list[str] = []
    with (
        told_of_compiling(CompileNotes(pytest.fail, update=shown.append)),
        compiling(anew=True, names="a"),
    ):
        sleep(0.3)
    assert len(shown) >= 3
    assert set(shown[:-1]) == {f"{COMPILING}): 0 s so far"}
    assert shown[-1] == ""


def test_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two that compile one is told of, and then the other; nothing is told after the end."""
    monkeypatch.setattr(compile_notes, "UPDATES", 0.02)
    told: list[str] = []
    notes = CompileNotes(update=told.append)
    first = notes.begins("a")
    while not told:
        sleep(0.01)
    second = notes.begins("b")
    sleep(0.1)
    assert "" not in told
    first.ends(0.1)
    assert "" in told  # the second may be told of already
    told.clear()
    while not told:
        sleep(0.01)
    second.ends(0.1)
    assert told[-1] == ""
    count = len(told)
    sleep(0.1)
    assert len(told) == count


def test_no_decision_time() -> None:
    """The clock of decisions stands still while notes are made."""
    before = seconds_deciding()
    with told_of_compiling(CompileNotes(lambda _: None, 0.01)), compiling(anew=True, names="a"):
        sleep(0.1)
    assert seconds_deciding() - before < 0.05


def test_compiled_by_another() -> None:
    """The wait for another process is no estimate of the next time."""
    notes = CompileNotes(lambda _: None)
    notes.begins("a").ends(None)
    assert expected_seconds("a") is None


def test_stored_code_is_no_wait() -> None:
    """Loading is not told."""
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append)), compiling(anew=False):
        pass
    assert told == []


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Notes after a hundredth of a second, and no listener afterwards."""
    monkeypatch.setattr(compile_notes, "UPDATES", 0.01)
    yield
    tell_of_compiling(None)


@pytest.mark.usefixtures("at_once")
def test_every_command_tells(capsys: pytest.CaptureFixture[str]) -> None:
    """Also commands and threads that have no listener of their own."""
    show_logs(verbose=False)
    with compiling(anew=True, names="a"):
        sleep(0.1)
    assert capsys.readouterr().err == f"{COMPILING}, some tens of seconds)\n"


@pytest.mark.usefixtures("at_once")
def test_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The line is updated in place, a warning gets a line of its own, and nothing is left."""
    terminal = error_terminal(monkeypatch)
    monkeypatch.setenv("COLUMNS", "60")
    show_logs(verbose=False)
    with compiling(anew=True, names="a"):
        sleep(0.1)
        logging.getLogger("hpcsched.test").warning("look here")
        sleep(0.1)
    line = f"\r\x1b[K{COMPILING}): 0 s so far"[: 60 - 1 + 4]
    written = terminal.getvalue()
    assert written.startswith(line * 2)
    assert "\r\x1b[Kwarning: look here\n" in written
    assert written.count("\n") == 1
    assert written.endswith("\r\x1b[K")


@pytest.mark.usefixtures("at_once")
def test_on_a_plain_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that cannot move its cursor gets plain lines."""
    terminal = error_terminal(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    show_logs(verbose=False)
    with compiling(anew=True, names="a"):
        sleep(0.1)
    assert terminal.getvalue() == f"{COMPILING}, some tens of seconds)\n"
