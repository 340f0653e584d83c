"""The view for other processes: the state file in the run directory."""

import logging
from pathlib import Path

from hpcsched.errors import InputError
from hpcsched.runs.run_state import RunState, write_state

INTERVAL = 1.0
"""Real seconds between two states."""

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

    def __init__(self, folder: Path, interval: float = INTERVAL) -> None:
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
            self.interval = max(self.interval, 60 * INTERVAL)
            if not self._failed:
                _log.warning("%s; `hpcsched status` shows an old state", error)
            self._failed = True

    def close(self) -> None:
        """Leave the last state in place."""
