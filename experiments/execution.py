"""Runs cells, several at a time, each in a process of its own."""

import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from time import perf_counter
from typing import Literal

from experiments.cell import Cell, finished
from hpcsched.errors import HpcschedError
from hpcsched.experiment import one_cell

PROGRAM = Path(one_cell.__file__)

Status = Literal["done", "kept", "failed"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a cell; `kept` means that its run was there already.

    `seconds` is what it took just now, by the clock; `message` says why a cell failed.
    """

    cell: Cell
    status: Status
    seconds: float = 0.0
    message: str = ""


class Execution:
    """Runs cells, and can be stopped."""

    def __init__(self, *, again: bool = False) -> None:
        self._again = again
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._stopped = False

    def outcomes(self, cells: Sequence[Cell], jobs: int) -> Iterator[Outcome]:
        """Run cells, `jobs` at a time, and yield what became of each as soon as it is known.

        An exception of the caller's, or Ctrl-C, stops those that run and begins no others.
        """
        with ThreadPoolExecutor(jobs) as pool:
            futures = [pool.submit(self._outcome, cell) for cell in cells]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                self._stop()

    def _stop(self) -> None:
        with self._lock:
            self._stopped = True
            for process in self._running:
                assert process.stdin is not None
                process.stdin.close()

    def _outcome(self, cell: Cell) -> Outcome:
        began = perf_counter()
        try:
            scenario = cell.load()
        except HpcschedError as error:
            return Outcome(cell, "failed", message=str(error).partition("\n")[0])
        if not self._again and finished(cell, scenario):
            return Outcome(cell, "kept")
        log = cell.folder.with_name(f"{cell.label}.log")
        try:
            log.parent.mkdir(parents=True, exist_ok=True)
            code = self._run(cell, log)
        except OSError as error:
            return Outcome(cell, "failed", message=f"{log}: {error.strerror or error}")
        seconds = perf_counter() - began
        if code == 0 and finished(cell, scenario):
            log.unlink()
            return Outcome(cell, "done", seconds)
        return Outcome(cell, "failed", seconds, _why(code, log))

    def _run(self, cell: Cell, log: Path) -> int:
        """Run a cell's process to its end, its output in a file; returns its exit code."""
        files = (PROGRAM, cell.scenario, cell.folder)
        command = [sys.executable, "-P", *map(str, files), *cell.overrides]
        with log.open("wb") as output:
            with self._lock:
                if self._stopped:
                    return 130
                # In a session of its own, so that Ctrl-C reaches it once, through the pipe.
                process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
                self._running.add(process)
            try:
                return process.wait()
            finally:
                with self._lock:
                    self._running.discard(process)
                    assert process.stdin is not None
                    process.stdin.close()


def _why(code: int, log: Path) -> str:
    """Say why a process failed: the last line that it wrote, or how it ended."""
    if code == 130:
        return "it was stopped"
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    ended = f"its process was ended by signal {-code}" if code < 0 else f"exit code {code}"
    return f"{last or ended} (see {log})" if code > 0 else f"{ended} (see {log})"
