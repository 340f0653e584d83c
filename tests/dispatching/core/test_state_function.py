"""Functions of a state: compiled by numba, kept in files, loaded and called without it."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hpcsched.dispatching.core import stored_code
from hpcsched.dispatching.core.compiled import is_compiled, plain
from hpcsched.dispatching.core.compiled_state import FIELDS, State
from hpcsched.dispatching.core.loaded_code import LoadedCode
from hpcsched.dispatching.core.machine_state import MachineState
from tests.dispatching.core.test_compiled import loaded

COUNTING = """\
import numpy as np
from hpcsched.dispatching.core.state_function import call_code
from hpcsched.dispatching.core.compiled import compiled
from hpcsched.dispatching.core.compiled_state import FIELDS, State
from hpcsched.dispatching.core.state_function import of_state

FACTOR = 3

@compiled()
def many(count):
    return np.empty(count, np.int64)

@of_state()
def count(state: State, number: int) -> int:
    if state.shared_free is None:
        state.counters[1] += 1
    state.counters[0] += number
    return FACTOR * state.counters[0]

@of_state()
def count_apart(state: State, share: float) -> None:
    if share < 0:
        state.queue = many(1 << 45)
    state.queue = many(2)
    state.queue[0], state.queue[1] = state.counters[0], 7
    state.decision_seconds[0] = share * state.queue[0] + state.queue[1] + state.depth

@of_state()
def add(state: State, number: int) -> None:
    state.counters[0] += number
    if number < 0:
        state.queue = many(1 << 45)

@of_state()
def subtract(state: State, number: int) -> None:
    state.counters[0] -= number

@of_state()
def pass_on(state: State, number: int) -> int:
    call_code(state.decides, state, number)
    return state.counters[0]

@of_state()
def answer_or_pass_on(state: State, number: int) -> int:
    if state.dismissed is not None:
        return number
    call_code(state.decides, state, number)
    return state.counters[0]

def fields(**known):
    return [known.get(name) for name in FIELDS]
"""


@pytest.fixture(name="folder")
def module_of_its_own(tmp_path: Path) -> Path:
    """A folder with a module."""
    (tmp_path / "counting.py").write_text(COUNTING)
    return tmp_path


def state(make: Callable[..., Any] = MachineState, **more: Any) -> Any:
    """Return a state with some fields."""
    known = {"counters": np.array([4, 0]), "queue": np.zeros(1, np.int64), **more}
    return make(*[known.get(name) for name in FIELDS])


def test_as_machine_code_and_as_python(folder: Path) -> None:
    """It reads and writes the arrays of a state either way."""
    count = loaded(folder, "counting").count
    for function, make in ((count, MachineState), (plain(count), State)):
        counters = np.array([4, 0])
        counted = state(make, counters=counters)
        assert function(counted, 2) == 3 * (4 + 2)
        assert function(counted, 1) == 3 * (6 + 1)
        assert counters.tolist() == [7, 2]


def test_called_by_machine_code(folder: Path) -> None:
    """Which function is called is a field of the state, and not what the caller is compiled for."""
    module = loaded(folder, "counting")
    for pass_on, make in ((module.pass_on, MachineState), (plain(module.pass_on), State)):
        assert pass_on(state(make, decides=module.add), 3) == 4 + 3
        assert pass_on(state(make, decides=module.subtract), 3) == 4 - 3
    with pytest.raises(MemoryError, match="no memory left"):
        module.pass_on(state(decides=module.add), -1)
    names = sorted(path.name.partition("-")[0] for path in folder.glob("__pycache__/*.code"))
    assert names == ["counting.add", "counting.pass_on", "counting.subtract"]


def test_a_call_that_is_not_reached(folder: Path) -> None:
    """Where Python answers, no function is named, and the call is compiled all the same."""
    module = loaded(folder, "counting")
    function = module.answer_or_pass_on
    answered = {"dismissed": np.zeros(1, np.int64)}
    assert function(state(**answered), 3) == plain(function)(state(State, **answered), 3) == 3
    assert function(state(decides=module.add), 3) == 4 + 3


def test_compiled_for_the_kinds_of_fields(folder: Path) -> None:
    """There is other code for other kinds of arrays, which lie elsewhere, or for None."""
    count = loaded(folder, "counting").count
    assert count(state(), 2) == 18
    narrow, wide = np.array([4, 0], dtype=np.int32), np.array([[4, 9], [0, 9]])[:, 0]
    for more in ({"counters": narrow}, {"counters": wide}, {"shared_free": np.zeros((2, 3))}):
        other = state(**more)
        assert not is_compiled(count, other.kinds)
        assert count(other, 2) == 18
        assert is_compiled(count, other.kinds)
    assert (narrow.tolist(), wide.tolist()) == ([6, 1], [6, 1])


def test_arrays_that_compiled_code_has_made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They take the place of others in the state, and are let go of with it; None is a result."""
    released = []
    let_go = LoadedCode._let_go

    def spy(code: LoadedCode, made: int) -> None:
        released.append(made)
        let_go(code, made)

    monkeypatch.setattr(LoadedCode, "_let_go", spy)
    function = loaded(folder, "counting").count_apart
    times = np.zeros(1)
    made = state(decision_seconds=times, depth=100, own_backfill_order=True)
    for _ in range(3):
        assert function(made, 0.5) is None
        assert times.tolist() == [0.5 * 4 + 7 + 100]
    assert released == []
    with pytest.raises(MemoryError, match="no memory left"):
        function(made, -0.5)
    del made
    assert len(released) == 1


def test_a_state_at_the_interpreters_end(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules may be empty by then: nothing is released, and nothing is printed."""
    released: list[int] = []
    monkeypatch.setattr(LoadedCode, "_let_go", lambda _, made: released.append(made))
    made = state(decision_seconds=np.zeros(1), depth=100, own_backfill_order=True)
    loaded(folder, "counting").count_apart(made, 0.5)
    with monkeypatch.context() as ending:
        ending.delattr("hpcsched.dispatching.core.machine_state._HEAD_SIZE")
        made.__del__(lambda: True)
    assert released == []
    made.__del__()
    assert len(released) == 1
    made._release = None


def test_found_again_without_numba(folder: Path) -> None:
    """What one process has compiled, the next one calls without importing numba."""
    code = (
        "import sys, numpy as np; from counting import count, fields\n"
        "from hpcsched.dispatching.core.machine_state import MachineState\n"
        "made = MachineState(*fields(counters=np.array([4, 0])))\n"
        "print(count(made, 2), 'numba' in sys.modules)\n"
    )
    path = os.pathsep.join([str(folder), *sys.path])
    environment = {**os.environ, "PYTHONPATH": path}
    printed = [
        subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for _ in range(2)
    ]
    assert printed == ["18 True\n", "18 False\n"]


def test_changed_sources_are_compiled_anew(folder: Path) -> None:
    """Code is made anew where what it was made from has changed, and takes the place of the old."""
    module = loaded(folder, "counting")
    assert module.count(state(), 2) == 18
    (folder / "counting.py").write_text(COUNTING.replace("FACTOR = 3", "FACTOR = 50"))
    again = loaded(folder, "counting")
    assert not is_compiled(again.count, state().kinds)
    assert again.count(state(), 2) == 300
    assert len(list(folder.glob("__pycache__/*.code"))) == 1


def damaged(content: bytes) -> list[bytes]:
    """Return what may have become of a file."""
    about, code = content.split(b"\n", 1)
    return [
        b"",
        b"damaged",
        b"[]\nx",
        about + b"\n" + code[:-9],
        about + b"\n" + code[9:] + code[:9],
    ]


def test_damaged_code_is_compiled_anew(folder: Path) -> None:
    """A file that cannot be read, or is not as it was written, does no harm."""
    count = loaded(folder, "counting").count
    assert count(state(), 2) == 18
    (path,) = folder.glob("__pycache__/*.code")
    whole = path.read_bytes()
    for content in damaged(whole):
        path.write_bytes(content)
        assert stored_code.find(count.py_func, state().kinds) is None
    assert loaded(folder, "counting").count(state(), 2) == 18
    assert stored_code.find(count.py_func, state().kinds) is not None


def test_code_of_other_versions_is_not_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another numba has made, or was made for another processor, stays unused."""
    count = loaded(folder, "counting").count
    kinds = state().kinds
    assert count(state(), 2) == 18
    assert stored_code.find(count.py_func, kinds) is not None
    with monkeypatch.context() as patch:
        patch.setattr(stored_code.metadata, "version", lambda name: f"{name} of tomorrow")
        assert stored_code.find(count.py_func, kinds) is None
    monkeypatch.setenv("NUMBA_CPU_NAME", "another")
    assert stored_code.find(count.py_func, kinds) is None


def test_where_code_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the folder that is named; beside the module; at home; and nowhere if none can be made."""
    home, named = folder / "home", folder / "named"
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(named))
    count = loaded(folder, "counting").count
    made, kinds = stored_code.ObjectCode(b"code", "symbol", [0]), state().kinds

    def kept() -> list[Path]:
        stored_code.keep(count.py_func, kinds, made)
        return [path.parent for path in sorted(folder.rglob("*.code"))]

    assert kept() == [named]
    assert stored_code.find(count.py_func, kinds) == made
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder / "other"))
    assert stored_code.find(count.py_func, kinds) is None
    file = folder / "file"
    file.touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "folder"))
    assert kept() == [folder / "__pycache__", named]
    for path in folder.rglob("*.code"):
        path.unlink()
    for path in folder.glob("__pycache__/*"):
        path.unlink()
    (folder / "__pycache__").rmdir()
    (folder / "__pycache__").touch()
    assert kept() == [home / "hpcsched"]
    assert stored_code.find(count.py_func, kinds) == made
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(named))
    assert stored_code.find(count.py_func, kinds) is None
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(file / "folder"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(file / "folder"))
    assert stored_code.find(count.py_func, kinds) is None
    assert kept() == [home / "hpcsched"]
    assert count(state(), 2) == 18
