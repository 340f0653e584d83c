"""Locks between processes: code that several of them need at once is compiled by one."""

import fcntl
import hashlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic, sleep
from typing import IO

from hpcsched.dispatching.core.compile_record import cache_folders

POLL = 0.05
"""Real seconds between two looks at a lock."""

MOST = 600.0
"""Real seconds after which code is compiled although another process has the lock."""


@contextmanager
def one_at_a_time(names: Sequence[str]) -> Iterator[bool]:
    """Hold a lock on the compilation of some functions, among the processes of one cache folder.

    Where no folder can be written or the file system has no locks, nothing is held. The lock of a
    process that is gone is free.

    Parameters
    ----------
    names
        Names of the functions that are compiled at once.

    Yields
    ------
    bool
        Whether another process compiled them meanwhile, so that their code may be stored now.
    """
    with ExitStack() as stack:
        file = _opened(names)
        if file is None:
            yield False
            return
        stack.enter_context(file)  # closing it gives the lock back
        yield _taken(file)


def _opened(names: Sequence[str]) -> IO[bytes] | None:
    """Return the open file of a lock in the first folder that can be written, or None."""
    digest = hashlib.sha256(" ".join(sorted(names)).encode()).hexdigest()[:24]
    for folder in cache_folders():
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return (folder / f"compile-{digest}.lock").open("ab")
        except OSError:
            continue
    return None


def _taken(file: IO[bytes]) -> bool:
    """Wait for a lock; return True if another process had it."""
    waited, began = False, monotonic()
    while monotonic() - began < MOST:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited = True
            sleep(POLL)
        except OSError:  # this file system has no locks
            break
        else:
            break
    return waited
