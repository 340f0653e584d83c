"""Solvers that a scenario can name and that go wrong, as plugins for tests."""

import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hpcsched import Plugin, hookimpl
from hpcsched.plugins.manager import build_registry, stand_in
from tests.dispatching.cp.backends.faulty_backends import (
    Does,
    deadlock,
    fail,
    killed_once,
)

NOTE = "HPCSCHED_TEST_NOTE"


@hookimpl
def hpcsched_solvers() -> Iterable[Plugin]:
    """Return `hopeless`, and two that write their process's number to the file in `NOTE`."""
    note = os.environ.get(NOTE, "")
    yield Plugin("stuck", "does not return", lambda *_: Does(deadlock, (note,)))
    yield Plugin("killed", "is killed once", lambda *_: Does(killed_once, (note,)))
    yield Plugin("hopeless", "raises an error whatever it is asked", lambda *_: Does(fail))


@contextmanager
def hopeless_solver() -> Iterator[None]:
    """Let scenarios name the solver `hopeless`."""
    with stand_in(build_registry(external=False, modules=[sys.modules[__name__]])):
        yield
