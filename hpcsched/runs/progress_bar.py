"""The progress bar on a terminal."""

import sys
from time import monotonic

from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from hpcsched.runs.replay_progress import ReplayProgress
from hpcsched.runs.terminal_console import TerminalConsole
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.records import JobRecord
from hpcsched.terminal import can_draw

INTERVAL = 0.2
"""Real seconds between two updates."""


class ProgressBar(Observer):
    """Progress bar of a replay: share that is done, jobs per second, and estimated end.

    Nothing is shown unless standard error is a terminal.
    """

    def __init__(self, title: str, progress: ReplayProgress) -> None:
        console = TerminalConsole(sys.stderr)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[jobs]} jobs, {task.fields[rate]}/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not can_draw(sys.stderr),
        )
        self._task = self._progress.add_task(title, total=None, jobs=0, rate=0)
        self._replay = progress
        self._jobs = 0
        self._began = self._due = monotonic()
        self._progress.start()

    def job_ended(self, record: JobRecord) -> None:
        """Count a job that has left, and update the bar where that is due."""
        self._jobs += 1
        if self._jobs % 64 == 0 and monotonic() >= self._due:
            self._show()

    def replayed(self, jobs: int) -> None:
        """Count jobs that have left, and update the bar where that is due."""
        self._jobs += jobs
        if monotonic() >= self._due:
            self._show()

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()

    def _show(self) -> None:
        now = monotonic()
        self._due = now + INTERVAL
        share = self._replay.share(self._jobs)
        self._progress.update(
            self._task,
            total=None if share is None else 1,
            completed=share or 0,
            jobs=self._jobs,
            rate=round(self._jobs / max(now - self._began, INTERVAL)),
        )
