"""Lock on a folder that one process at a time may write: a run, an experiment, a driver.

The operating system holds the lock, on an open file in the folder. It is free again whenever its
process ends, so that a dead process leaves nothing to clear; on network file systems it holds
between machines. The file names the holder. Where a file system has no such locks, the file
decides.
"""

import contextlib
import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import IO, Self
from weakref import WeakSet

from pydantic import BaseModel, ConfigDict, ValidationError

from hpcsched.whole_files import NOT_OURS, problem

LOCK = ".lock"
"""Name of the lock's file in a folder."""

_NO_LOCKS = (errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP)
"""Error numbers of file systems without locks."""


PROC = Path("/proc")
"""Process information on Linux; without it, processes are known by their numbers alone."""


class RunProcess(BaseModel):
    """A process.

    Attributes
    ----------
    pid
        Its number, which the operating system may reuse.
    started_ticks
        Its start, in clock ticks since the machine's; None if unknown. It tells reused numbers
        apart.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    host: str
    started_ticks: int | None


def this_process() -> RunProcess:
    """Return the identity of the calling process."""
    pid = os.getpid()
    _, ticks = _state_and_start(pid) or ("", None)
    return RunProcess(pid=pid, host=socket.gethostname(), started_ticks=ticks)


def is_alive(process: RunProcess) -> bool | None:
    """Return True if a process is alive; None for a process of another machine."""
    if process.host != socket.gethostname():
        return None
    try:
        os.kill(process.pid, 0)  # signal 0 is not sent; only whether it could be is looked at
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass  # another user's
    found = _state_and_start(process.pid)
    if found is None:
        return True
    state, ticks = found
    # A zombie has ended, and waits for its parent to take note.
    return state != "Z" and process.started_ticks in (None, ticks)


def _state_and_start(pid: int) -> tuple[str, int] | None:
    """Return state letter and start in ticks of a process; None if unknown."""
    try:
        line = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the program's name in brackets, which may hold anything.
    fields = line.rpartition(")")[2].split()
    return fields[0], int(fields[19])


class Holder(BaseModel):
    """Holder of a lock.

    Attributes
    ----------
    since
        Begin of the lock (ISO 8601, UTC).
    """

    process: RunProcess
    since: str

    def __str__(self) -> str:
        return f"process {self.process.pid} on {self.process.host} since {self.since}"


class HeldError(Exception):
    """Another process holds the lock; the text names it as far as known."""


class FolderLock:
    """A lock on a folder that is there; held from `acquire`, or while its context is open."""

    def __init__(self, folder: Path, name: str = LOCK) -> None:
        self._path = folder / name
        self._file: IO[str] | None = None

    def acquire(self) -> Self:
        """Take the lock and return it."""
        while True:
            file = self._path.open("a+", encoding="utf-8")
            try:
                self._take(file)
                if self._is_there(file):
                    break
            except BaseException:
                file.close()
                raise
            file.close()  # its last holder has just taken the file away
        since = datetime.now(UTC).isoformat(timespec="seconds")
        self._file = file
        _held.add(self)
        try:
            file.truncate(0)
            file.write(Holder(process=this_process(), since=since).model_dump_json() + "\n")
            file.flush()
        except OSError:
            self.release()
            raise
        return self

    def release(self) -> None:
        """Release the lock, if it is held, and remove its file."""
        if self._file is not None:
            # While it is still held: whoever opened the file before looks whether it is there.
            with contextlib.suppress(OSError):
                self._path.unlink()
            with contextlib.suppress(OSError):  # a disk that is full was told of before
                self._file.close()
            self._file = None

    def disown(self) -> None:
        """Leave the folder to the process from which this one was just forked.

        What a fork writes to files that are open in the folder is lost: else rows would be there
        twice. Without `/proc`, forks cannot write other files.
        """
        folder = self._path.parent.resolve()
        NOT_OURS.add(self._path.parent.absolute())
        nothing = os.open(os.devnull, os.O_RDWR)
        with contextlib.suppress(OSError):
            for link in Path("/proc/self/fd").iterdir():
                with contextlib.suppress(OSError):
                    if link.readlink().is_relative_to(folder):
                        os.dup2(nothing, int(link.name), inheritable=False)
        os.close(nothing)
        self._file = None

    @property
    def is_held(self) -> bool:
        """True from `acquire` to `release`, in the process that took it."""
        return self._file is not None

    def __enter__(self) -> Self:
        return self if self._file is not None else self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _take(self, file: IO[str]) -> None:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HeldError(str(_holder(file) or "another process")) from None
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            holder = _holder(file)
            if holder is not None and is_alive(holder.process) is not False:
                message = f"{holder}; if that one is gone, remove {self._path}"
                raise HeldError(message) from None

    def _is_there(self, file: IO[str]) -> bool:
        """Return True if an open file is still the one in the folder."""
        try:
            return os.path.samestat(os.fstat(file.fileno()), self._path.stat())
        except FileNotFoundError:
            return False


_held: "WeakSet[FolderLock]" = WeakSet()


def _disown_all() -> None:
    for lock in list(_held):
        if lock.is_held:
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
        raise problem("in-use", path, f"it is being worked on by {held}") from None
    except OSError as error:
        message = f"it cannot be written: {error.strerror}"
        raise problem("cannot-write", path, message) from error
    with lock:
        yield


def holder_of(folder: Path) -> str | None:
    """Return who holds the lock on a folder, in words; None if nobody does."""
    path = folder / LOCK
    try:
        with path.open(encoding="utf-8") as file:
            holder = _holder(file)
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return str(holder or "another process")
            except OSError as error:
                # Without locks, the process that the file names decides.
                alive = holder is not None and is_alive(holder.process) is not False
                return str(holder) if alive and error.errno in _NO_LOCKS else None
    except OSError:
        return None
    return None


def _holder(file: IO[str]) -> Holder | None:
    """Return the holder that a lock's file names; None where it names none."""
    file.seek(0)
    try:
        return Holder.model_validate_json(file.read())
    except ValidationError:
        return None  # it has not been written yet
