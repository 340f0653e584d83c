"""Views on a terminal, drawn with rich: the console, the progress bar and the live screen."""

import sys
from collections.abc import Iterable
from time import monotonic
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderHook
from rich.file_proxy import FileProxy
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.progress_bar import ProgressBar
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from hpcsched.runs.run_status import RunState, duration, state_rows
from hpcsched.terminal import PlainStream, can_draw, for_drawing, visible

BAR_INTERVAL = 0.2
"""Real seconds between two updates of the bar."""

SCREEN_INTERVAL = 0.5
"""Real seconds between two updates of the screen."""

PATIENCE = 2.0
"""Real seconds from which the screen shows the age of its state."""


class TerminalConsole(Console):
    """Console that draws on a terminal, and shows control characters of what it is to draw."""

    def __init__(self, stream: TextIO) -> None:
        # A name in square brackets is no markup.
        super().__init__(file=for_drawing(stream), markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text with the width that it has on the screen."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the pieces to draw; those without text are the movements of the cursor."""
        for piece in super().render(renderable, options):
            text, style, control = piece
            yield piece if control else Segment(visible(text), style)

    def push_render_hook(self, hook: RenderHook) -> None:
        """Take a live display, which has just put streams of its own in place."""
        super().push_render_hook(hook)
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            # It obeys colours and links in what is printed above the display.
            if isinstance(stream, FileProxy):
                setattr(sys, name, PlainStream(cast("TextIO", stream)))


class ReplayBar:
    """Progress bar of a replay: share that is done, jobs per second, and estimated end.

    Nothing is shown unless standard error is a terminal.
    """

    def __init__(self, title: str) -> None:
        self.interval = BAR_INTERVAL
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[jobs]} jobs, {task.fields[rate]}/s"),
            TimeRemainingColumn(),
            console=TerminalConsole(sys.stderr),
            transient=True,
            disable=not can_draw(sys.stderr),
        )
        self._task = self._progress.add_task(title, total=None, jobs=0, rate=0)
        self._began = monotonic()
        self._progress.start()

    def show(self, state: RunState) -> None:
        """Show the progress of a run."""
        self.update(state.progress, state.ended)

    def update(self, share: float | None, ended: int) -> None:
        """Show the share that is done, None if unknown, and the number of ended jobs."""
        self._progress.update(
            self._task,
            total=None if share is None else 1,
            completed=share or 0,
            jobs=ended,
            rate=round(ended / max(monotonic() - self._began, BAR_INTERVAL)),
        )

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()


class LiveScreen:
    """Terminal view of a state, until it is closed.

    A thread of its own draws the screen, so that it is updated during a long decision too.

    Parameters
    ----------
    interval
        Real seconds between two updates.
    """

    def __init__(self, console: Console, interval: float = SCREEN_INTERVAL) -> None:
        self.interval = interval
        self._state: RunState | None = None
        self._live = Live(
            console=console,
            get_renderable=self._draw,
            refresh_per_second=1 / interval,
            transient=True,
            # What is printed meanwhile goes where it would go without a screen.
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def show(self, state: RunState) -> None:
        """Keep a state for the next update."""
        self._state = state
        if not self._live.is_started:
            self._live.start(refresh=True)

    def close(self) -> None:
        """Clear the screen."""
        self._live.stop()

    def _draw(self) -> RenderableType:
        return "" if self._state is None else drawn(self._state)


def drawn(state: RunState) -> RenderableType:
    """Return a state as a title, a progress bar and a table."""
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold")
    if state.progress is not None:
        rows.add_row("", ProgressBar(total=1.0, completed=state.progress, width=60))
    for name, text in state_rows(state):
        rows.add_row(name, text)
    age = state.age()
    if age > PATIENCE:
        rows.add_row("as of", f"{duration(age)} ago")
    title = Text(state.scenario, style="bold cyan")
    return Group(title, rows)
