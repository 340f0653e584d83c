"""The terminal view of a run in progress, updated in place."""

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from hpcsched.runs.run_state import RunState
from hpcsched.runs.state_rendering import duration, state_rows

INTERVAL = 0.5
"""Real seconds between two updates."""

PATIENCE = 2.0
"""Real seconds from which the screen shows the age of its state."""


class LiveScreen:
    """Terminal view of a state, until it is closed.

    A thread of its own draws the screen, so that it is updated during a long decision too.

    Parameters
    ----------
    interval
        Real seconds between two updates.
    """

    def __init__(self, console: Console, interval: float = INTERVAL) -> None:
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
