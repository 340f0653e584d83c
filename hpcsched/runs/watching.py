"""Views of a run in progress: state file, terminal, progress bar."""

import logging
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hpcsched.runs.assembly import Assembly
from hpcsched.runs.replay_progress import ReplayProgress
from hpcsched.runs.state_board import StateBoard, View
from hpcsched.runs.state_file import StateFile
from hpcsched.runs.state_lines import StateLines
from hpcsched.scenario.choices import Transformed
from hpcsched.terminal import can_draw

if TYPE_CHECKING:
    from hpcsched.runs.progress_bar import ProgressBar

_log = logging.getLogger(__name__)


class Watching:
    """Views of a run in progress.

    Parameters
    ----------
    progress
        Whether to show a bar on standard error, if that is a terminal.
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
        self._assembly, self._watch, self._page = assembly, watch, page
        self.with_bar = progress and not watch and can_draw(sys.stderr)

    def board(self) -> StateBoard:
        """Return the board that writes the state file and shows the state."""
        assembly = self._assembly
        views: list[View] = [StateFile(assembly.folder)]
        if self._page is not None:
            from hpcsched.runs.live_page import LivePage  # noqa: PLC0415 (jinja2 takes its time)

            views.append(LivePage(self._page, assembly.scenario.name))
        if self._watch and can_draw(sys.stderr):
            from hpcsched.runs.live_screen import LiveScreen  # noqa: PLC0415 (rich takes its time)
            from hpcsched.runs.terminal_console import TerminalConsole  # noqa: PLC0415

            views.append(LiveScreen(TerminalConsole(sys.stderr)))
        elif self._watch:
            views.append(StateLines(sys.stderr))
        return StateBoard(
            assembly.scenario.name,
            assembly.system,
            self._progress(),
            views,
            outages=assembly.outages,
            comments=lambda: assembly.source.comments,
        )

    def bar(self) -> "ProgressBar":
        """Return a progress bar, if one is wanted."""
        from hpcsched.runs.progress_bar import ProgressBar  # noqa: PLC0415 (rich takes its time)

        return ProgressBar(self._assembly.scenario.name, self._progress())

    def tell_loop(self, in_python: Sequence[str]) -> None:
        """Log if jobs are replayed by the core alone, or the parts that need Python."""
        how = f"event by event in Python: {', '.join(in_python)}" if in_python else ""
        _log.info("jobs are replayed %s", how or "by the core")

    def _progress(self) -> ReplayProgress:
        return ReplayProgress(self._assembly.source, self._most_jobs())

    def _most_jobs(self) -> int | None:
        """Return the largest number of jobs, if the scenario states one."""
        # All of the project's own trace sources have this key; a plugin's need not. Behind
        # transforms it is not known how many jobs there are.
        trace = self._assembly.scenario.trace
        transformed = isinstance(trace, Transformed) and bool(trace.transforms)
        jobs = None if transformed else getattr(trace, "jobs", None)
        return jobs if isinstance(jobs, int) else None
