"""Attempts at a task: a folder each, with scenario, log and run directory.

Two attempts at the same task cannot meet.
"""

import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

_progress = logging.getLogger("hpcsched.progress")

SCENARIO = "scenario.yaml"
LOG = "log"
NOTES = "notes"
"""File with a program's notes about waits, such as for the compiler; a line each."""

RUN = "run"

POLL = 0.1
"""Real seconds between two checks for a stop."""

GRACE = 5.0
"""Real seconds that a program has for stopping before it is killed."""

STOPPED = "it was stopped"


def new_attempt(folder: Path, name: str) -> Path:
    """Create and return the folder of an attempt.

    Raises
    ------
    OSError
        If it cannot be created.
    """
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))


def carry_out(
    program: str,
    scenario: str,
    attempt: Path,
    overrides: Sequence[str] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """Run a task's program to its end; return the reason of a failure, or nothing.

    Parameters
    ----------
    program
        Python module.
    scenario
        The scenario as YAML.
    attempt
        Folder of the attempt.
    overrides
        Values of `--set`.
    stopped
        Function that returns True when the program is to stop.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    (attempt / SCENARIO).write_text(scenario, encoding="utf-8")
    log = attempt / LOG
    files = (attempt / SCENARIO, attempt / RUN)
    command = [sys.executable, "-P", "-m", program, *map(str, files), *overrides]
    with log.open("wb") as output:
        # In a session of its own: Ctrl-C is for the one who started it, who then ends the pipe.
        # The pipe also ends where that one is killed.
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert process.stdin is not None
        with process.stdin, _relayed(attempt / NOTES) as relay:
            code = _wait(process, stopped, relay)
            if code is None:
                process.stdin.close()
                _end(process)
                return STOPPED
    return _why(code, log) if code else ""


def _wait(
    process: subprocess.Popen[bytes], stopped: Callable[[], bool], relay: Callable[[], None]
) -> int | None:
    while not stopped():
        try:
            return process.wait(POLL)
        except subprocess.TimeoutExpired:
            relay()
    return None


class _Relay:
    """Path of the notes that are shown; of several programs that wait alike, one is."""

    shown: Path | None = None


@contextmanager
def _relayed(notes: Path) -> Iterator[Callable[[], None]]:
    """Yield a function that shows the notes that a program has written since the last call."""
    count = 0

    def relay() -> None:
        nonlocal count
        if not notes.exists() or _Relay.shown not in (None, notes):
            return
        _Relay.shown = notes
        lines = notes.read_text(encoding="utf-8").splitlines()
        for line in lines[count:]:
            _progress.info(line)
        count = len(lines)

    try:
        yield relay
    finally:
        if _Relay.shown == notes:
            _Relay.shown = None


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(code: int, log: Path) -> str:
    """Return why a program failed: its last line, or its exit code."""
    # The log of a killed program ends anywhere, so its last line would mislead.
    if code < 0:
        return f"its process was ended by signal {-code}"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last or f"its process ended with exit code {code}"
