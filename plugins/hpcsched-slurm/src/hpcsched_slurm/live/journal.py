"""Journal: every change to a cluster, written down before it is made.

A line of JSON for each change, and one for its outcome. A change that was written and not made is
decided again: the cluster itself is always read anew, and the journal only states which of its jobs
a driver has placed, and where.
"""

import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from hpcsched.errors import Finding, InputError, Place
from hpcsched.runs.folder_lock import FolderLock, HeldError
from hpcsched.whole_files import file_error, write_text

NAME = "journal.jsonl"

Do = Literal["start", "hold"]
"""Kind of a change: start a job on nodes, or take it back."""


class Entry(NamedTuple):
    """A change: number, time (seconds since 1970), round, kind, job and nodes."""

    number: int
    time: float
    round: int
    do: Do
    job: str
    nodes: tuple[str, ...]


class Journal:
    """Journal that is appended to; `close` it in the end.

    A last line that was broken off is dropped: its change was not made.

    Attributes
    ----------
    placed
        Jobs that were told to start and not taken back since, by key.

    Raises
    ------
    InputError
        If the file cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.placed: dict[str, Entry] = {}
        self._number = 0
        whole = self._read()
        try:
            self._file: IO[bytes] = self._path.open("ab")
            # Else the next line would continue the broken one, and both would be lost.
            self._file.truncate(whole)
        except OSError as error:
            raise _problem(self._path, f"it cannot be written: {error.strerror}") from error

    def _read(self) -> int:
        """Read the file, and return the length of its whole lines in bytes."""
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return 0
        except OSError as error:
            raise _problem(self._path, f"it cannot be read: {error.strerror}") from error
        # Only a last line without an end can be broken, since the file is appended to alone.
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                self._note(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise _problem(self._path, f"it is damaged: {error}", number) from error
        return whole

    def _note(self, line: dict[str, Any]) -> None:
        if "do" not in line:
            if line["outcome"] == "refused":
                self.placed = {k: e for k, e in self.placed.items() if e.number != line["of"]}
            return
        entry = Entry(
            int(line["number"]), float(line["time"]), int(line["round"]), line["do"],
            str(line["job"]), tuple(line["nodes"]),
        )  # fmt: skip
        self._number = max(self._number, entry.number)
        if entry.do == "start":
            self.placed[entry.job] = entry
        else:
            self.placed.pop(entry.job, None)

    def intend(
        self, now: float, round_: int, changes: Sequence[tuple[Do, str, Sequence[str]]]
    ) -> list[Entry]:
        """Write changes that are made next; they are on the disk on return."""
        entries = []
        for do, job, nodes in changes:
            self._number += 1
            entry = Entry(self._number, now, round_, do, job, tuple(nodes))
            entries.append(entry)
            self._write(entry._asdict())
        self._sync()
        for entry in entries:
            self._note(entry._asdict())
        return entries

    def outcome(self, entry: Entry, after: float, refused: str = "") -> None:
        """Write the outcome of a change: made, or refused with a reason.

        Parameters
        ----------
        after
            Round trip: seconds from the beginning of the look that led to the change to the
            cluster's answer.
        refused
            Reason why the cluster did not make it; empty if it did.
        """
        outcome = "refused" if refused else "made"
        line: dict[str, Any] = {"of": entry.number, "outcome": outcome, "after": round(after, 3)}
        self._write(line | ({"why": refused} if refused else {}))
        self._note(line)

    def forget(self, present: Collection[str]) -> None:
        """Forget the jobs that are not present any more."""
        self.placed = {key: entry for key, entry in self.placed.items() if key in present}

    def close(self) -> None:
        """Flush and close the file."""
        self._sync()
        self._file.close()

    def _write(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line).encode() + b"\n")

    def _sync(self) -> None:
        try:
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise _problem(self._path, f"it cannot be written: {error.strerror}") from error


def _problem(path: Path, message: str, line: int | None = None) -> InputError:
    return InputError(Finding("journal", message, Place(str(path), line)))


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
        raise file_error("driver-at-work", folder / LOCK, message) from None
    except OSError as error:
        message = f"it cannot be written: {error.strerror}"
        raise file_error("cannot-write", folder / LOCK, message) from error
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
