"""Identity of the process of a run, and whether it is alive."""

import os
import socket
from pathlib import Path

from pydantic import BaseModel, ConfigDict

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
