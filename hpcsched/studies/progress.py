"""Progress of the cells of a study: a live table on a terminal, lines elsewhere."""

import sys
from collections import Counter
from threading import Lock
from time import monotonic
from typing import Any, Self, TextIO

from hpcsched.studies.cell import Cell
from hpcsched.studies.execution import Listener, Outcome
from hpcsched.terminal import can_draw

MOST_ROWS = 8
"""Number of running cells that the table shows by name."""


def make_progress(title: str, cells: int, stream: TextIO | None = None) -> Listener:
    """Return a live table for a terminal, and plain lines for anything else."""
    stream = sys.stderr if stream is None else stream
    return LiveTable(title, cells, stream) if can_draw(stream) else Lines(cells, stream)


class Lines:
    """Display with a line for each cell that has ended, and the estimated rest."""

    def __init__(self, cells: int, stream: TextIO) -> None:
        self._cells = cells
        self._stream = stream
        self._ended = self._kept = 0
        self._began = monotonic()

    def __enter__(self) -> Self:
        self._began = monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        self._stream.flush()

    def started(self, cell: Cell) -> None:
        """Show nothing: lines of simultaneous cells would mix."""

    def ended(self, outcome: Outcome) -> None:
        """Write the line."""
        self._ended += 1
        self._kept += outcome.status == "kept"
        line = f"[{self._ended}/{self._cells}] {outcome.cell.name}: {outcome.status}"
        if outcome.status == "done":
            line += f" in {outcome.seconds:.1f} s"
        if outcome.message:
            line += f": {outcome.message}"
        # Kept cells took no time, so that they tell nothing of the others.
        ran, left = self._ended - self._kept, self._cells - self._ended
        if ran and left:
            seconds = (monotonic() - self._began) * left / ran
            line += f"; about {clock(seconds)} left"
        print(line, file=self._stream, flush=True)


class LiveTable:
    """Table of counts, rate, remaining time, and running cells."""

    def __init__(self, title: str, cells: int, stream: TextIO) -> None:
        from rich.live import Live  # noqa: PLC0415 (takes its time)

        from hpcsched.runs.terminal_views import TerminalConsole  # noqa: PLC0415

        self._title = title
        self._cells = cells
        self._counts: Counter[str] = Counter()
        self._running: dict[str, float] = {}
        self._lock = Lock()
        self._began = monotonic()
        console = TerminalConsole(stream)
        self._live = Live(
            get_renderable=self._table, console=console, refresh_per_second=4, transient=True
        )

    def __enter__(self) -> Self:
        self._began = monotonic()
        self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def started(self, cell: Cell) -> None:
        """Count the cell as running."""
        with self._lock:
            self._running[cell.name] = monotonic()

    def ended(self, outcome: Outcome) -> None:
        """Count the outcome; a failure is also written above the table."""
        with self._lock:
            self._running.pop(outcome.cell.name, None)
            self._counts[outcome.status] += 1
        if outcome.status == "failed":
            from rich.text import Text  # noqa: PLC0415

            self._live.console.print(Text(f"{outcome.cell.name}: {outcome.message}", "red"))

    def _table(self) -> Any:
        from rich.table import Table  # noqa: PLC0415

        now = monotonic()
        with self._lock:
            # Copies: cells may begin in another thread while the table is drawn.
            counts, running = Counter(self._counts), list(self._running.items())
        table = Table(title=self._title, title_justify="left")
        for column in ("cells", "done", "running", "failed", "kept", "rate", "remaining"):
            table.add_column(column, justify="right")
        ran = counts["done"] + counts["failed"]
        # Kept cells are not among those that ran: they took no time, and would make the rate too
        # high.
        left = self._cells - counts.total()
        per_second = ran / max(now - self._began, 1e-9)
        table.add_row(
            str(self._cells),
            str(counts["done"]),
            str(len(running)),
            str(counts["failed"]),
            str(counts["kept"]),
            f"{3600 * per_second:,.0f}/h" if ran else "-",
            clock(left / per_second) if ran else "-",
        )
        if running:
            table.caption_justify = "left"
            shown = [f"{name} ({clock(now - began)})" for name, began in running[:MOST_ROWS]]
            more = len(running) - len(shown)
            table.caption = "\n".join([*shown, *([f"and {more} more"] if more else [])])
        return table


def clock(seconds: float) -> str:
    """Return a time as h:mm:ss.

    Examples
    --------
    >>> clock(3725)
    '1:02:05'
    """
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
