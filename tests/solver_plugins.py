"""A solver that a scenario can name and that always fails, as a plugin for tests."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hpcsched import Plugin, hookimpl
from hpcsched.plugins.manager import build_registry, stand_in
from tests.dispatching.cp.backends.faulty_backends import Does, fail


@hookimpl
def hpcsched_solvers() -> Iterable[Plugin]:
    """Return `hopeless`."""
    yield Plugin("hopeless", "raises an error whatever it is asked", lambda *_: Does(fail))


@contextmanager
def hopeless_solver() -> Iterator[None]:
    """Let scenarios name the solver `hopeless`."""
    with stand_in(build_registry(external=False, modules=[sys.modules[__name__]])):
        yield
