"""Stamps of sources: they change with all that the machine code contains."""

from pathlib import Path

import pytest

from hpcsched.dispatching.core.code_stamp import stamp_of
from tests.dispatching.core.test_compiled import loaded

CALLED = """\
from hpcsched.dispatching.core.compiled import compiled

FACTOR = 3

@compiled()
def triple(number):
    return FACTOR * number
"""

CALLER = """\
from hpcsched.dispatching.core.compiled import compiled
from stamped_called import triple

@compiled()
def sum_of_triples(one, other):
    return triple(one) + triple(other)
"""


@pytest.fixture(name="folder")
def two_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two modules, one of which calls the other."""
    (tmp_path / "stamped_called.py").write_text(CALLED)
    (tmp_path / "stamped_caller.py").write_text(CALLER)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def test_sources_of_called_functions_count(folder: Path) -> None:
    """The stamp of a caller changes with the file of what it calls, and not the other way round."""
    called, caller = loaded(folder, "stamped_called"), loaded(folder, "stamped_caller")
    of_called, of_caller = (
        stamp_of(called.triple.py_func),
        stamp_of(caller.sum_of_triples.py_func),
    )
    assert stamp_of(caller.sum_of_triples.py_func) == of_caller
    with (folder / "stamped_caller.py").open("a") as file:
        file.write("# changed\n")
    assert stamp_of(called.triple.py_func) == of_called
    assert stamp_of(caller.sum_of_triples.py_func) != of_caller
    with (folder / "stamped_called.py").open("a") as file:
        file.write("# changed\n")
    assert stamp_of(called.triple.py_func) != of_called


def test_constants_count(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same file with another value of a constant has other code."""
    called, caller = loaded(folder, "stamped_called"), loaded(folder, "stamped_caller")
    before = stamp_of(caller.sum_of_triples.py_func)
    monkeypatch.setitem(caller.triple.py_func.__globals__, "FACTOR", 4)
    assert called.FACTOR == 4
    assert stamp_of(caller.sum_of_triples.py_func) != before
