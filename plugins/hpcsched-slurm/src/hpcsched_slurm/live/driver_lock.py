"""Lock that lets one driver at a time change a cluster, and its heartbeat."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hpcsched.runs.folder_lock import FolderLock, HeldError
from hpcsched.whole_files import problem, write_text

LOCK = "driver.lock"
HEARTBEAT = "heartbeat.json"


@contextmanager
def driver_lock(folder: Path) -> Iterator[None]:
    """Hold the driver's lock on a folder, which is created.

    Raises
    ------
    InputError
        If another process has it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(folder, LOCK).acquire()
    except HeldError as held:
        message = f"another driver is at work, {held}; there must be one only"
        raise problem("driver-at-work", folder / LOCK, message) from None
    except OSError as error:
        message = f"it cannot be written: {error.strerror}"
        raise problem("cannot-write", folder / LOCK, message) from error
    with lock:
        yield


class Heartbeat:
    """File with the instant at which a driver last had a cluster in hand, for a watchdog.

    It names the driven partitions, and the seconds without a beat after which their jobs are to be
    handed to the cluster's own scheduler.
    """

    def __init__(self, folder: Path, partitions: Sequence[str], release_after: int) -> None:
        self._path = folder / HEARTBEAT
        self._partitions = list(partitions)
        self._release_after = release_after
        self._last = 0.0

    def beat(self, now: float) -> None:
        """Write the instant, seconds since 1970, unless the last one is less than a second old."""
        # A clock that was put back must not silence the driver until it has caught up.
        if 0 <= now - self._last < 1:
            return
        self._last = now
        content = {
            "time": now,
            "process": os.getpid(),
            "partitions": self._partitions,
            "release_after": self._release_after,
        }
        # Atomic: a watchdog must never read half a heartbeat.
        write_text(self._path, json.dumps(content) + "\n")
