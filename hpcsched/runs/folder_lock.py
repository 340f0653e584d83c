"""Lock on a folder that one process at a time may write: a run, an experiment, a driver.

The operating system holds the lock, on an open file in the folder that names the holder. It is free
again whenever its process ends, so that a dead process leaves nothing to clear; on network file
systems it holds between machines. A file system without locks keeps no two processes apart.
"""

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Self
from weakref import WeakSet

from hpcsched.whole_files import cannot_write, file_error

LOCK = ".lock"
"""Name of the lock's file in a folder."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Error numbers of file systems without locks."""


class HeldError(Exception):
    """Another process holds the lock; the text names it."""


class FolderLock(contextlib.AbstractContextManager["FolderLock"]):
    """A lock on a folder that is there, held from `acquire` until its context ends."""

    def __init__(self, folder: Path, name: str = LOCK) -> None:
        self._path = folder / name
        self._file: IO[str] | None = None

    def acquire(self) -> Self:
        """Take the lock and return it.

        Raises HeldError if another process holds it.
        """
        with contextlib.ExitStack() as opened:
            file = opened.enter_context(self._path.open("a+", encoding="utf-8"))
            if _is_locked(file, fcntl.LOCK_EX):
                raise HeldError(_holder(file))
            if self._is_gone(file):  # its last holder has just taken the file away
                return self.acquire()
            since = datetime.now(UTC).isoformat(timespec="seconds")
            file.truncate(0)
            file.write(f"process {os.getpid()} on {socket.gethostname()} since {since}\n")
            file.flush()
            opened.pop_all()
        self._file = file
        _held.add(self)
        return self

    def release(self) -> None:
        """Release the lock, if it is held, and remove its file."""
        if self._file is not None:
            # While it is still held: whoever opened the file before looks whether it is there.
            with contextlib.suppress(OSError):
                self._path.unlink()
            self.disown()

    def disown(self) -> None:
        """Close the file; a forked process so leaves the lock to its parent."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __exit__(self, *_: object) -> None:
        self.release()

    def _is_gone(self, file: IO[str]) -> bool:
        try:
            return not os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return True


_held: WeakSet[FolderLock] = WeakSet()


def _disown_all() -> None:
    for lock in _held:
        lock.disown()


os.register_at_fork(after_in_child=_disown_all)


@contextlib.contextmanager
def locked_folder(path: Path, *within: str) -> Iterator[None]:
    """Create and lock a folder of a study, with folders within it."""
    try:
        for name in ("", *within):
            (path / name).mkdir(parents=True, exist_ok=True)
        lock = FolderLock(path).acquire()
    except HeldError as held:
        raise file_error("in-use", path, f"it is being worked on by {held}") from None
    except OSError as error:
        raise cannot_write(path, error) from error
    with lock:
        yield


def holder_of(folder: Path) -> str | None:
    """Return who holds the lock on a folder, in words; None if nobody does."""
    with contextlib.suppress(OSError), (folder / LOCK).open(encoding="utf-8") as file:
        if _is_locked(file, fcntl.LOCK_SH):
            return _holder(file)
    return None


def _is_locked(file: IO[str], how: int) -> bool:
    """Lock a file, if its file system can; return True if another process holds the lock."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return how == fcntl.LOCK_SH  # whoever wrote the file has not removed it
    return False


def _holder(file: IO[str]) -> str:
    file.seek(0)
    return file.read().strip() or "another process"
