"""Views on a terminal, drawn with rich: the console and the progress bar."""

import sys
from collections.abc import Iterable
from time import monotonic
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderHook
from rich.file_proxy import FileProxy
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.text import Text

from hpcsched.terminal import PlainStream, for_drawing, visible


class TerminalConsole(Console):
    """Console that draws on a terminal, with control characters made visible."""

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
    """Progress bar of a replay: share that is done, jobs per second, and estimated end."""

    def __init__(self, title: str) -> None:
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[jobs]} jobs, {task.fields[rate]}/s"),
            TimeRemainingColumn(),
            console=TerminalConsole(sys.stderr),
            transient=True,
        )
        self._task = self._progress.add_task(title, total=None, jobs=0, rate=0)
        self._began = monotonic()
        self._progress.start()

    def update(self, share: float | None, ended: int) -> None:
        """Show the share that is done, None if unknown, and the number of ended jobs."""
        self._progress.update(
            self._task,
            total=None if share is None else 1,
            completed=share or 0,
            jobs=ended,
            rate=round(ended / max(monotonic() - self._began, 0.1)),
        )

    def close(self) -> None:
        """Remove the bar."""
        self._progress.stop()
