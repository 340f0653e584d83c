"""Code that several processes need at once is compiled by one of them."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Barrier, Event, Thread

import pytest

from hpcsched.dispatching.core import compile_lock
from hpcsched.dispatching.core.compile_lock import one_at_a_time
from hpcsched.dispatching.core.compile_time import told_of_compiling
from tests.dispatching.core.test_compiled import loaded
from tests.dispatching.core.test_state_function import COUNTING, state


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "code"))
    return tmp_path / "code"


@pytest.fixture
def held() -> Iterator[Event]:
    """An event that ends the hold of another thread on the lock of `a` and `b`."""
    begun, end = Event(), Event()

    def hold() -> None:
        # Each open file has a lock of its own, so that a thread is like a process.
        with one_at_a_time(["a", "b"]):
            begun.set()
            end.wait()

    thread = Thread(target=hold)
    thread.start()
    begun.wait()
    yield end
    end.set()
    thread.join()


def test_wait(held: Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second waits for the first, and knows that it did; the order of names does not matter."""
    monkeypatch.setattr(compile_lock, "sleep", lambda _: held.set())
    with one_at_a_time(["b", "a"]) as waited:
        assert waited
        assert held.is_set()
    with one_at_a_time(["b", "a"]) as waited:
        assert not waited


@pytest.mark.usefixtures("held")
def test_no_longer_than(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other functions need no wait, and a process that hangs holds no other up for ever."""
    with one_at_a_time(["a"]) as waited:
        assert not waited
    monkeypatch.setattr(compile_lock, "MOST", 0.1)
    with one_at_a_time(["a", "b"]) as waited:
        assert waited


def test_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing can be written, each process compiles for itself."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(compile_lock, "cache_folders", lambda: [tmp_path / "file"])
    with ExitStack() as stack:
        for _ in range(2):
            assert not stack.enter_context(one_at_a_time(["a"]))


def test_one_compiles(tmp_path: Path) -> None:
    """Of two that begin together one compiles, and the other takes its code and no time of it."""
    (tmp_path / "counting.py").write_text(COUNTING)
    functions = [loaded(tmp_path, "counting").count for _ in range(2)]
    both_began = Barrier(2)
    times: list[float | None] = []

    class Listener:
        """Begins when the other does, and keeps the time."""

        def begins(self, names) -> "Listener":
            """Wait for the other."""
            assert list(names) == ["count"]
            both_began.wait(30)
            return self

        def proceeds(self, share: float) -> None:
            """Do nothing."""

        def ends(self, seconds: float | None) -> None:
            """Keep the time."""
            times.append(seconds)

    def call(count) -> None:
        with told_of_compiling(Listener()):
            assert count(state(), 2) == 18

    threads = [Thread(target=call, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(times) == 2
    assert times.count(None) == 1
