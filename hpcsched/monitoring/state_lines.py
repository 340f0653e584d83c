"""The view for where there is no terminal: a line now and then."""

from typing import TextIO

from hpcsched.monitoring.run_state import RunState
from hpcsched.monitoring.state_rendering import state_line

INTERVAL = 10.0
"""Real seconds between two lines."""


class StateLines:
    """Writes a state as a line, such as a log file holds."""

    def __init__(self, out: TextIO, interval: float = INTERVAL) -> None:
        self.interval = interval
        self._out = out

    def show(self, state: RunState) -> None:
        """Write a line."""
        print(state_line(state), file=self._out, flush=True)

    def close(self) -> None:
        """Nothing more to write."""
