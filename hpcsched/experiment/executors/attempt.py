"""An attempt at a task: a folder with the scenario, what the program said, and its run directory.

Each attempt has a folder of its own, so that two attempts at the same task cannot meet.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

SCENARIO = "scenario.yaml"
LOG = "log"
RUN = "run"

POLL = 0.1
"""Real seconds between two looks at whether to stop."""

GRACE = 5.0
"""Real seconds that a program has for stopping before it is killed."""

STOPPED = "it was stopped"


def new_attempt(folder: Path, name: str) -> Path:
    """Make and return the folder of an attempt; raises OSError where it cannot be made."""
    return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=folder))


def carry_out(
    program: str,
    scenario: str,
    attempt: Path,
    overrides: Sequence[str] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> str:
    """Run a task's program to its end, or until `stopped`; returns why it failed, or nothing.

    Raises OSError where the attempt's folder cannot be written.
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
        try:
            return process.wait(POLL)
        except subprocess.TimeoutExpired:
            pass
    return None


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _why(code: int, log: Path) -> str:
    """Say why a program failed: the last line that it wrote, or how it ended."""
    if code < 0:
        return f"its process was ended by signal {-code}"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return last or f"its process ended with exit code {code}"
