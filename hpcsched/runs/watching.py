"""Views of a run in progress: state file, log lines, terminal, progress bar, page."""

import logging
import sys
from pathlib import Path
from typing import TextIO

from hpcsched.errors import InputError
from hpcsched.runs.assembly import Assembly
from hpcsched.runs.monitor import Monitor, ReplayProgress, View
from hpcsched.runs.run_status import RunState, state_line, write_state
from hpcsched.scenario.choices import Transformed
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.terminal import can_draw

STATE_INTERVAL = 1.0
"""Real seconds between two state files."""

LINE_INTERVAL = 10.0
"""Real seconds between two lines of a log."""

_log = logging.getLogger(__name__)


class StateFile:
    """Writer of `state.json` in a run directory.

    The file stays when the replay is over, as the metrics are computed then; the simulation's
    caller removes it.

    Parameters
    ----------
    interval
        Real seconds between two states.
    """

    def __init__(self, folder: Path, interval: float = STATE_INTERVAL) -> None:
        self.interval = interval
        self._folder = folder
        self._failed = False

    def show(self, state: RunState) -> None:
        """Write a state.

        A run does not end because its state cannot be written: it is warned of once, and tried
        again less often.
        """
        try:
            write_state(self._folder, state)
        except InputError as error:
            self.interval = max(self.interval, 60 * STATE_INTERVAL)
            if not self._failed:
                _log.warning("%s; `hpcsched status` shows an old state", error)
            self._failed = True

    def close(self) -> None:
        """Leave the last state in place."""


class StateLines:
    """Writer of a state as a line of a log.

    Parameters
    ----------
    interval
        Real seconds between two lines.
    """

    def __init__(self, out: TextIO, interval: float = LINE_INTERVAL) -> None:
        self.interval = interval
        self._out = out

    def show(self, state: RunState) -> None:
        """Write a line."""
        print(state_line(state), file=self._out, flush=True)

    def close(self) -> None:
        """Do nothing: lines are written at once."""


class Watching:
    """Displays of a run in progress, as the user asks for them.

    Parameters
    ----------
    progress
        Whether to show a bar on standard error, if that is a terminal.
    watch
        Whether to show the state there instead.
    page
        HTML file that shows the state in a browser; None for none.
    """

    def __init__(
        self,
        assembly: Assembly,
        *,
        progress: bool = False,
        watch: bool = False,
        page: Path | None = None,
    ) -> None:
        self._assembly, self._page = assembly, page
        self._progress, self._watch = progress, watch

    def monitor(self, replay: EventLoop) -> Monitor:
        """Return a monitor of a replay, which writes the state file and shows the state."""
        assembly = self._assembly
        return Monitor(
            assembly.scenario.name,
            assembly.system,
            replay,
            ReplayProgress(assembly.source, self._most_jobs()),
            self._views(),
            outages=assembly.outages,
            comments=lambda: assembly.source.comments,
        )

    def _views(self) -> list[View]:
        assembly = self._assembly
        views: list[View] = [StateFile(assembly.folder)]
        if self._page is not None:
            from hpcsched.runs.live_page import LivePage  # noqa: PLC0415 (jinja2 takes its time)

            views.append(LivePage(self._page, assembly.scenario.name))
        if self._watch and not can_draw(sys.stderr):
            views.append(StateLines(sys.stderr))
        elif (self._watch or self._progress) and can_draw(sys.stderr):
            from hpcsched.runs import terminal_views  # noqa: PLC0415 (rich takes its time)

            views.append(
                terminal_views.LiveScreen(terminal_views.TerminalConsole(sys.stderr))
                if self._watch
                else terminal_views.ReplayBar(assembly.scenario.name)
            )
        return views

    def _most_jobs(self) -> int | None:
        """Return the largest number of jobs, if the scenario states one."""
        # All of the project's own trace sources have this key; a plugin's need not. Behind
        # transforms it is not known how many jobs there are.
        trace = self._assembly.scenario.trace
        transformed = isinstance(trace, Transformed) and bool(trace.transforms)
        jobs = None if transformed else getattr(trace, "jobs", None)
        return jobs if isinstance(jobs, int) else None
