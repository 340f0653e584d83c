"""Several functions of a state are compiled at once, by processes that may come to nothing."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hpcsched.dispatching.core import compiling, state_compiler, stored_code
from hpcsched.dispatching.core.compiled import is_compiled
from hpcsched.dispatching.core.compiling import compile_all
from tests.dispatching.core.test_compiled import loaded
from tests.dispatching.core.test_state_function import COUNTING, state


@pytest.fixture(name="functions")
def functions_of_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Two functions of a module that other processes find as well."""
    (tmp_path / "counting.py").write_text(COUNTING)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = loaded(tmp_path, "counting")
    return [module.count, module.add]


@pytest.fixture(name="here")
def compiled_here(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the functions that this process compiles."""
    here = []
    made = state_compiler.object_code

    def spy(function: Any, kinds: str) -> Any:
        here.append(function.__name__)
        return made(function, kinds)

    monkeypatch.setattr(state_compiler, "object_code", spy)
    return here


def assert_there(functions: list[Any]) -> None:
    """Assert that functions have been compiled and kept, and do what they do."""
    for function in functions:
        assert is_compiled(function, state().kinds)
        assert stored_code.find(function.py_func, state().kinds) is not None
    count, add = functions
    counted = state()
    add(counted, 5)
    assert count(counted, 2) == 3 * (4 + 5 + 2)


def test_one_here_and_one_elsewhere(
    functions: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With two processors, the second function is compiled by a process of its own, once."""
    monkeypatch.setattr(compiling, "_processors", lambda: 2)
    for _ in range(2):
        compile_all(functions, state().kinds)
        assert here == ["count"]
        assert_there(functions)


def test_all_here_on_one_processor(
    functions: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one processor, no process is started."""
    monkeypatch.setattr(compiling, "_processors", lambda: 1)
    monkeypatch.setattr(compiling, "_Worker", None)
    compile_all(functions, state().kinds)
    assert here == ["count", "add"]
    assert_there(functions)


@pytest.mark.parametrize("program", ["/bin/false", "/bin/echo", "/none"])
def test_a_process_that_comes_to_nothing(
    program: str, functions: list[Any], here: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it leaves out, or does wrong, is compiled here."""
    monkeypatch.setattr(compiling, "_processors", lambda: 2)
    monkeypatch.setattr(sys, "executable", program)
    compile_all(functions, state().kinds)
    assert here == ["count", "add"]
    assert_there(functions)


def test_an_interrupt_ends_the_process(
    functions: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process is left behind where the user stops all."""
    started = []

    class Worker(compiling._Worker):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            started.append(self._process)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(compiling, "_processors", lambda: 2)
    monkeypatch.setattr(compiling, "_Worker", Worker)
    monkeypatch.setattr(state_compiler, "object_code", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compile_all(functions, state().kinds)
    (process,) = started
    assert process.returncode not in (None, 0)
