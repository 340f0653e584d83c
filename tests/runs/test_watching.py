"""Views of a run: the one that has the terminal tells of compilation."""

from collections.abc import Iterator
from pathlib import Path
from time import sleep

import pytest

from hpcsched.dispatching.core.compile_time import (
    compiling,
    listener_of_process,
    tell_of_compiling,
    told_of_compiling,
)
from hpcsched.monitoring import compile_notes
from hpcsched.monitoring.compile_notes import COMPILING, CompileNotes
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.watching import Watching
from hpcsched.scenario import load_scenario
from tests.terminal import error_terminal

SMALL = Path(__file__).parents[2] / "scenarios" / "small-easy.yaml"


@pytest.fixture(autouse=True)
def at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Notes after a hundredth of a second, with a record of their own; no listener afterwards."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    monkeypatch.setattr(compile_notes, "UPDATES", 0.01)
    yield
    tell_of_compiling(None)


@pytest.fixture
def assembly(tmp_path: Path) -> Assembly:
    """A run of a few jobs."""
    return assemble(load_scenario(SMALL, ["trace.jobs=5"]), folder=tmp_path)


def compile_for(watching: Watching, seconds: float = 0.3) -> None:
    """Compile for some real seconds."""
    with told_of_compiling(watching.compile_notes), compiling(anew=True, names="a"):
        sleep(seconds)


def test_on_the_bar(assembly: Assembly, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar tells, and nothing is written beside it."""
    terminal = error_terminal(monkeypatch)
    tell_of_compiling(CompileNotes(pytest.fail))
    watching = Watching(assembly, progress=True)
    bar = watching.bar()
    compile_for(watching)
    bar.close()
    assert any(line.startswith(f"{COMPILING}): 0 s so far") for line in terminal.lines)


def test_on_the_screen(assembly: Assembly, monkeypatch: pytest.MonkeyPatch) -> None:
    """So does the screen of `--watch`."""
    error_terminal(monkeypatch)
    shown: list[str] = []
    monkeypatch.setattr(
        "hpcsched.monitoring.live_screen.LiveScreen.note", lambda _, text: shown.append(text)
    )
    watching = Watching(assembly, watch=True)
    watching.board()
    compile_for(watching)
    assert (shown[0], shown[-1]) == (f"{COMPILING}): 0 s so far", "")


def test_without_a_view(assembly: Assembly) -> None:
    """The command line's listener tells; in Python, where there is none, the log does."""
    told: list[str] = []
    watching = Watching(assembly)
    assert listener_of_process() is None
    assert isinstance(watching.compile_notes, CompileNotes)
    tell_of_compiling(CompileNotes(told.append))
    compile_for(watching)
    assert told == [f"{COMPILING}, some tens of seconds)"]
