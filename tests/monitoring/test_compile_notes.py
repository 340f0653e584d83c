"""Notes while code is compiled: once at the begin, then at intervals, with an estimate."""

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
from hpcsched.monitoring.compile_notes import COMPILING, CompileNotes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


def test_first_time(folder: Path) -> None:
    """Nothing is known of the time yet; it is told once, however much is compiled."""
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append)):
        for name in ("a", "b"):
            with compiling(anew=True, names=(name,)):
                pass
    assert told == [f"{COMPILING}, some tens of seconds)"]
    assert (folder / RECORD).is_file()


def test_estimate(folder: Path) -> None:
    """The time of the last compilation on this machine is told, and how far it is."""
    folder.mkdir()
    (folder / RECORD).write_text('{"a b": 0.1}')
    assert expected_seconds(["b", "a"]) == 0.1
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append, 0.06)), compiling(anew=True, names="ba"):
        sleep(0.3)
    assert told[:3] == [
        f"{COMPILING}, about 0 s)",
        "still compiling: 0 s of about 0 s",
        "still compiling: 0 s, longer than the last time",
    ]
    assert expected_seconds("ab") >= 0.3


def test_no_decision_time() -> None:
    """The clock of decisions stands still while notes are made."""
    before = seconds_deciding()
    with told_of_compiling(CompileNotes(lambda _: None, 0.01)), compiling(anew=True, names="a"):
        sleep(0.1)
    assert seconds_deciding() - before < 0.05


def test_compiled_by_another() -> None:
    """The wait for another process is no estimate of the next time."""
    notes = CompileNotes(lambda _: None)
    notes.begins("a")
    notes.ends("a", None)
    assert expected_seconds("a") is None


def test_stored_code_is_no_wait() -> None:
    """Loading is not told."""
    told: list[str] = []
    with told_of_compiling(CompileNotes(told.append)), compiling(anew=False):
        pass
    assert told == []


def test_every_command_tells(capsys: pytest.CaptureFixture[str]) -> None:
    """Also commands and threads that have no listener of their own."""
    show_logs(verbose=False)
    try:
        with compiling(anew=True, names="a"):
            pass
    finally:
        tell_of_compiling(None)
    assert capsys.readouterr().err == f"{COMPILING}, some tens of seconds)\n"
