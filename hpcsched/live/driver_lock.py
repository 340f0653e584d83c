"""The lock that lets one driver at a time change a cluster, and its heartbeat.

The lock is the operating system's, on an open file: it is free again whenever its process ends,
however that happens.
"""

import fcntl
import json
import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

from hpcsched.errors import Finding, InputError, Place
from hpcsched.results.files import write_text

LOCK = "driver.lock"
HEARTBEAT = "heartbeat.json"


class DriverLock:
    """A lock on a folder, held while its context is open; raises InputError if another has it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._path.open("a+", encoding="utf-8")
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            assert self._file is not None
            self._file.seek(0)
            whose = self._file.read().strip() or "unknown"
            self._file.close()
            message = f"another driver is at work, process {whose}; there must be one only"
            raise InputError(Finding("driver-at-work", message, Place(str(self._path)))) from None
        except OSError as error:
            message = f"it cannot be written: {error.strerror}"
            raise InputError(Finding("cannot-write", message, Place(str(self._path)))) from error
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is not None:
            self._file.close()


class Heartbeat:
    """A file that says when a driver last had a cluster in hand, for a watchdog to read.

    It names the partitions that are driven, and after how many seconds without a beat their jobs
    are to be handed to the cluster's own scheduler.
    """

    def __init__(self, folder: Path, partitions: Sequence[str], release_after: int) -> None:
        self._path = folder / HEARTBEAT
        self._partitions = list(partitions)
        self._release_after = release_after
        self._last = 0.0

    def beat(self, now: float) -> None:
        """Write the instant, seconds since 1970, unless it was written less than a second ago."""
        if now - self._last < 1:
            return
        self._last = now
        content = {
            "time": now,
            "process": os.getpid(),
            "partitions": self._partitions,
            "release_after": self._release_after,
        }
        write_text(self._path, json.dumps(content) + "\n")
