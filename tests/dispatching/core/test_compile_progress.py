"""Share of a compilation that is done: functions begun, of those that are needed."""

from pathlib import Path

import pytest

from hpcsched.dispatching.core.compile_progress import TRANSLATED, CompileProgress
from hpcsched.dispatching.core.compile_time import told_of_compiling
from tests.dispatching.core.test_compile_time import Listener
from tests.dispatching.core.test_compiled import loaded

CODE = """\
from hpcsched.dispatching.core.compiled import compiled


@compiled()
def times_deep(number):
    return 3 * number


@compiled()
def left_out(number):
    return times_deep(number) + 1


@compiled()
def chosen(number, option):
    if option is not None:
        return left_out(number)
    return number


@compiled()
def times(number):
    return chosen(number, None) + times_deep(number)
"""


def test_by_hand(tmp_path: Path) -> None:
    """Of four functions that the source names, three are needed; each begins once."""
    (tmp_path / "deep.py").write_text(CODE)
    deep = loaded(tmp_path, "deep")
    times, chosen, left_out, times_deep = (
        function.py_func for function in (deep.times, deep.chosen, deep.left_out, deep.times_deep)
    )
    progress = CompileProgress([times])
    assert progress.share == 0
    progress.begins(times, [chosen, times_deep])
    assert progress.share == pytest.approx(TRANSLATED * 1 / 4)
    # `left_out` is in a dead branch, and nothing else calls it.
    progress.begins(chosen, [])
    assert progress.share == pytest.approx(TRANSLATED * 2 / 3)
    progress.begins(times_deep, [])
    assert progress.share == pytest.approx(TRANSLATED)
    # Another function, and the same for other types, change nothing.
    progress.begins(left_out, [times_deep])
    progress.begins(times_deep, [])
    assert progress.share == pytest.approx(TRANSLATED)
    assert CompileProgress([]).share == 0


def test_of_a_compilation(tmp_path: Path) -> None:
    """The two callees begin in turn; the function itself ends with the machine code."""
    (tmp_path / "deep.py").write_text(CODE)
    listener = Listener([], "numbers")
    with told_of_compiling(listener):
        assert loaded(tmp_path, "deep").times(2) == 8
    assert listener.shares == pytest.approx([TRANSLATED * 1 / 3, TRANSLATED * 2 / 3])
