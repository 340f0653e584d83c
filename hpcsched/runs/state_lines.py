"""The view without a terminal: a line at intervals."""

from typing import TextIO

from hpcsched.runs.run_state import RunState
from hpcsched.runs.state_rendering import state_line

INTERVAL = 10.0
"""Real seconds between two lines."""


class StateLines:
    """Writer of a state as a line of a log.

    Parameters
    ----------
    interval
        Real seconds between two lines.
    """

    def __init__(self, out: TextIO, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._out = out

    def show(self, state: RunState) -> None:
        """Write a line."""
        print(state_line(state), file=self._out, flush=True)

    def close(self) -> None:
        """Do nothing: lines are written at once."""
