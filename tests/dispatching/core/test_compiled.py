"""Compiled functions: how they call each other, and what is kept of them."""

import importlib.util
import pickle
import sys
from pathlib import Path
from types import ModuleType

import numba
import pytest

from hpcsched.dispatching.core.code_cache import stamp_of
from hpcsched.dispatching.core.compiled import is_compiled

CALLED = """\
from hpcsched.dispatching.core.compiled import compiled

FACTOR = 3

@compiled()
def times(number):
    return FACTOR * number
"""

CALLER = """\
from hpcsched.dispatching.core.compiled import compiled
from called import times

@compiled()
def plus(one, other):
    return times(one) + other

@compiled()
def total(number):
    if number < 0:
        raise ValueError("less than nothing")
    return plus(number, 1) + plus(2, number) + times(4)
"""


def loaded(folder: Path, name: str) -> ModuleType:
    """Return a module of a folder, read anew."""
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(name="folder")
def two_modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two modules, one of which calls the other."""
    for name, code in {"called": CALLED, "caller": CALLER}.items():
        (tmp_path / f"{name}.py").write_text(code)
        monkeypatch.setitem(sys.modules, name, loaded(tmp_path, name))
    return tmp_path


def read_again(folder: Path) -> ModuleType:
    """Return the calling module as a new process would see it."""
    loaded(folder, "called")
    return loaded(folder, "caller")


def hits(module: ModuleType) -> int:
    """Return how much of the machine code of `total` was found in the cache."""
    return sum(module.total.machine.stats.cache_hits.values())


def test_what_compiled_code_calls_becomes_part_of_it(folder: Path) -> None:
    """Inner functions are compiled once, constants or not, and only their caller is kept."""
    caller = sys.modules["caller"]
    assert caller.total(5) == 3 * 5 + 1 + 3 * 2 + 5 + 3 * 4
    assert len(caller.total.machine.signatures) == 1
    assert len(caller.plus.machine.inner.signatures) == 1
    assert caller.plus.machine.signatures == []
    assert {path.name.split("-")[0] for path in folder.glob("__pycache__/*.nbc")} == {
        "caller.total"
    }


@pytest.mark.usefixtures("folder")
def test_python_calls_what_compiled_code_calls_as_well() -> None:
    """A function that is part of another is compiled for Python when Python calls it."""
    caller = sys.modules["caller"]
    assert caller.total(5) == 39
    assert caller.plus(5, 1) == 16
    assert len(caller.plus.machine.signatures) == 1
    assert caller.plus(0.5, 1) == 2.5


def test_errors_of_compiled_code(folder: Path) -> None:
    """What compiled code raises reaches Python, from the cache too."""
    for module in (sys.modules["caller"], read_again(folder)):
        with pytest.raises(ValueError, match="less than nothing"):
            module.total(-1)


def test_machine_code_is_found_again(folder: Path) -> None:
    """What is unchanged is not compiled again."""
    caller = sys.modules["caller"]
    assert not is_compiled(caller.total)
    assert caller.total(5) == 39
    assert is_compiled(caller.total)
    again = read_again(folder)
    assert is_compiled(again.total)
    assert again.total(5) == 39
    assert hits(again) == 1


@pytest.mark.parametrize(
    ("before", "after", "total"),
    [("FACTOR * number", "number", 5 + 1 + 2 + 5 + 4), ("FACTOR = 3", "FACTOR = 10", 116)],
)
def test_machine_code_changes_with_what_it_calls(
    folder: Path, before: str, after: str, total: int
) -> None:
    """Code is compiled anew if a function or a constant that it uses changes in another file."""
    assert sys.modules["caller"].total(5) == 39
    (folder / "called.py").write_text(CALLED.replace(before, after))
    again = read_again(folder)
    assert not is_compiled(again.total)
    assert again.total(5) == total
    assert hits(again) == 0


@pytest.mark.usefixtures("folder")
def test_constants_from_elsewhere_count() -> None:
    """The stamp of a function changes with a constant whose file it does not use otherwise."""
    caller = sys.modules["caller"]
    before = stamp_of(caller.total.py_func)
    sys.modules["called"].FACTOR = 4
    assert stamp_of(caller.total.py_func) != before


# An index begins with numba's version. What follows here is a class that is not there any more.
MOVED = b"chpcsched.dispatching.core.compiled_state\nGone\n."


@pytest.mark.parametrize("content", [b"", b"damaged", MOVED])
@pytest.mark.parametrize("kind", ["nbi", "nbc"])
def test_damaged_machine_code_is_compiled_anew(folder: Path, kind: str, content: bytes) -> None:
    """A cache that cannot be read, or was written by another version, does no harm."""
    assert sys.modules["caller"].total(5) == 39
    (path,) = folder.glob(f"__pycache__/*.{kind}")
    if content == MOVED:
        content = pickle.dumps(numba.__version__) * (kind == "nbi") + MOVED
    path.write_bytes(content)
    again = read_again(folder)
    assert is_compiled(again.total) == (kind == "nbc")
    assert again.total(5) == 39
    assert hits(again) == 0
    mended = read_again(folder)
    assert mended.total(5) == 39
    assert hits(mended) == 1


def test_compiled_for_some_types_only(folder: Path) -> None:
    """What is compiled for whole numbers is not for others, here and in a later process."""
    assert sys.modules["caller"].total(5) == 39
    for module in (sys.modules["caller"], read_again(folder)):
        assert is_compiled(module.total, numba.int64)
        assert not is_compiled(module.total, numba.float64)
