"""Attempts at a task: a folder each, with scenario, log and run directory.

Two attempts at the same task cannot meet.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

SCENARIO = "scenario.yaml"
LOG = "log"
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
        with process.stdin:
            code = _wait(process, stopped)
            if code is None:
                process.stdin.close()
                _end(process)
                return STOPPED
    return _why(code, log) if code else ""


def _wait(process: subprocess.Popen[bytes], stopped: Callable[[], bool]) -> int | None:
    while not stopped():
        with suppress(subprocess.TimeoutExpired):
            return process.wait(POLL)
    return None


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
