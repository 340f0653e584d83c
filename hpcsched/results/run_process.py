"""The process that a run goes on in: its mark, and whether it is still there."""

import os
import socket
from pathlib import Path

from pydantic import BaseModel, ConfigDict

PROC = Path("/proc")
"""Where Linux tells of processes; without it, they are known by their numbers alone."""


class RunProcess(BaseModel):
    """A process: its number, the name of its machine, and what tells it from a later process.

    Numbers of processes are given anew. `started_ticks` is when it started, in clock ticks since
    the machine did; None where the machine does not tell.
    """

    model_config = ConfigDict(frozen=True)

    pid: int
    host: str
    started_ticks: int | None


def this_process() -> RunProcess:
    """Return the mark of the process that asks."""
    pid = os.getpid()
    _, ticks = _state_and_start(pid) or ("", None)
    return RunProcess(pid=pid, host=socket.gethostname(), started_ticks=ticks)


def is_alive(process: RunProcess) -> bool | None:
    """Say whether a process is still there; None if it is of another machine."""
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
    """Return the letter of a process's state and its start in ticks; None if nothing tells."""
    try:
        line = (PROC / str(pid) / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The second field is the program's name in brackets, which may hold anything.
    fields = line.rpartition(")")[2].split()
    return fields[0], int(fields[19])
