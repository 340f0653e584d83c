"""Progress of an experiment as a page in a file, beside another display."""

from collections import Counter
from pathlib import Path
from threading import Lock
from time import monotonic
from types import TracebackType
from typing import Self

from hpcsched.runs.live_page import PageFile
from hpcsched.studies.experiment.cell import Cell
from hpcsched.studies.experiment.execution import Outcome
from hpcsched.studies.experiment.progress import Progress, clock


class ProgressPage:
    """Writer of an experiment's progress as a page, whenever a cell begins or ends.

    Parameters
    ----------
    path
        The HTML file.
    title
        Name of the experiment.
    cells
        Number of its cells.
    beside
        The other display, which is told the same.
    """

    def __init__(self, path: Path, title: str, cells: int, beside: Progress) -> None:
        self._page = PageFile(path, title)
        self._cells, self._beside = cells, beside
        self._counts: Counter[str] = Counter()
        self._running: dict[str, float] = {}
        self._failures: list[tuple[str, str]] = []
        self._lock = Lock()
        self._began = monotonic()

    def __enter__(self) -> Self:
        self._beside.__enter__()
        self._write(ended=False)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._write(ended=True)
        self._beside.__exit__(kind, error, trace)

    def started(self, cell: Cell) -> None:
        """Show the cell as running."""
        with self._lock:
            self._running[cell.name] = monotonic()
        self._beside.started(cell)
        self._write(ended=False)

    def ended(self, outcome: Outcome) -> None:
        """Show the outcome."""
        with self._lock:
            self._running.pop(outcome.cell.name, None)
            self._counts[outcome.status] += 1
            if outcome.status == "failed":
                self._failures.append((outcome.cell.name, outcome.message))
        self._beside.ended(outcome)
        self._write(ended=False)

    def _write(self, *, ended: bool) -> None:
        # Cells begin in other threads, so a page is written by one at a time.
        with self._lock:
            now, done = monotonic(), self._counts.total()
            rows = [("cells", f"{done:,} of {self._cells:,} ended")]
            rows += [(status, f"{count:,}") for status, count in self._counts.items()]
            # Kept cells took no time and would make the estimate too short.
            ran = done - self._counts["kept"]
            if ran and not ended:
                left = (now - self._began) / ran * (self._cells - done)
                rows.append(("remaining", f"about {clock(left)}"))
            rows += [
                ("running", f"{name} for {clock(now - b)}") for name, b in self._running.items()
            ]
            rows += [("failed", f"{name}: {message}") for name, message in self._failures]
            progress = done / self._cells if self._cells else None
            self._page.write(progress=progress, rows=rows, ended=ended)
