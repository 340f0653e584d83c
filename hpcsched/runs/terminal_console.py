"""The terminal of displays: tables and bars that are drawn with rich."""

import sys
from collections.abc import Iterable
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType, RenderHook
from rich.file_proxy import FileProxy
from rich.segment import Segment
from rich.text import Text

from hpcsched.terminal import PlainStream, for_drawing, visible


class TerminalConsole(Console):
    """Console that draws on a terminal, and shows control characters of what it is to draw."""

    def __init__(self, stream: TextIO) -> None:
        # A name in square brackets is no markup.
        super().__init__(file=for_drawing(stream), markup=False, emoji=False, highlight=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Return text as it is drawn: here its width is that of what is shown."""
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
