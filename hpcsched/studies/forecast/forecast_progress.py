"""Progress of a forecast: the replay up to its instant, then the futures."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


class ForecastProgress:
    """Progress bar over futures, shown only if standard error is a terminal.

    Parameters
    ----------
    futures
        Number of futures; None until it is known.
    """

    def __init__(self, futures: int | None = None) -> None:
        console = Console(stderr=True)
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._futures = futures
        self._task = self._progress.add_task("replaying up to the forecast", total=None)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        self._progress.stop()

    def __call__(self, ended: int, futures: int | None = None) -> None:
        """Show how many futures have ended.

        Parameters
        ----------
        ended
            Number of futures so far.
        futures
            Number of all; None: as given at first.
        """
        total = self._futures if futures is None else futures
        description = f"futures: {ended} of {total}"
        self._progress.update(self._task, completed=ended, total=total, description=description)
