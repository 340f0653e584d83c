"""Progress of a study: a bar on a terminal, lines for cells elsewhere."""

import sys
from collections import Counter
from datetime import timedelta
from time import monotonic
from typing import Self

from hpcsched.studies.execution import Outcome
from hpcsched.terminal import can_draw


class Bar:
    """Progress bar on standard error; nothing is shown unless that is a terminal."""

    def __init__(self, title: str) -> None:
        self.is_drawn = can_draw(sys.stderr)
        if self.is_drawn:
            from rich import progress as rich  # noqa: PLC0415 (takes its time)

            from hpcsched.runs.terminal_views import TerminalConsole  # noqa: PLC0415

            self._bar = rich.Progress(
                rich.TextColumn("{task.description}", markup=False),
                rich.BarColumn(),
                rich.TaskProgressColumn(),
                rich.TextColumn("{task.fields[note]}", markup=False),
                rich.TimeRemainingColumn(),
                console=TerminalConsole(sys.stderr),
                transient=True,
            )
            self._task = self._bar.add_task(title, total=None, note="")

    def __enter__(self) -> Self:
        if self.is_drawn:
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.is_drawn:
            self._bar.stop()

    def show(self, share: float | None, note: str = "") -> None:
        """Show the share that is done, None if unknown, and a note beside it."""
        if self.is_drawn:
            total = None if share is None else 1
            self._bar.update(self._task, total=total, completed=share or 0, note=note)

    def count(self, done: int, total: int, what: str) -> None:
        """Show how many are done."""
        self.show(done / total, f"{done} of {total} {what}")

    def print(self, line: str) -> None:
        """Write a line above the bar."""
        self._bar.console.print(line, style="red")


class CellProgress(Bar):
    """Progress of cells: a bar on a terminal, else a line for each cell that has ended."""

    def __init__(self, title: str, cells: int, *, quiet: bool = False) -> None:
        super().__init__(title)
        self._cells, self._quiet = cells, quiet
        self.is_drawn = self.is_drawn and not quiet
        self._counts: Counter[str] = Counter()
        self._began = monotonic()

    def ended(self, outcome: Outcome) -> None:
        """Show the outcome of a cell."""
        self._counts[outcome.status] += 1
        ended = self._counts.total()
        if self.is_drawn:
            counts = ", ".join(f"{count} {status}" for status, count in self._counts.items())
            self.count(ended, self._cells, f"cells: {counts}")
            if outcome.status == "failed":
                self.print(f"{outcome.cell.name}: {outcome.message}")
        elif not self._quiet:
            line = f"[{ended}/{self._cells}] {outcome.cell.name}: {outcome.status}"
            line += f" in {outcome.seconds:.1f} s" if outcome.status == "done" else ""
            line += f": {outcome.message}" if outcome.message else ""
            # Kept cells took no time, so that they tell nothing of the others.
            ran, left = ended - self._counts["kept"], self._cells - ended
            if ran and left:
                seconds = round((monotonic() - self._began) * left / ran)
                line += f"; about {timedelta(seconds=seconds)} left"
            sys.stderr.write(f"{line}\n")
            sys.stderr.flush()
