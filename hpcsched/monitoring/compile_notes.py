"""Notes on standard error while code is compiled: how long it takes, and how far it is."""

import logging
from collections.abc import Callable, Sequence
from threading import Event, Lock, Thread
from time import monotonic

from hpcsched.dispatching.core.compile_record import expected_seconds, record_seconds

COMPILING = "compiling (first use on this machine"
"""Begin of the note before code is compiled."""

INTERVAL = 10.0
"""Real seconds between two lines while code is compiled."""

UPDATES = 1.0
"""Real seconds before the first line, and between two updates of one line."""

LEAST_SHARE = 0.05
"""Share of a compilation from which on its time is estimated."""


def say(line: str) -> None:
    """Log a note about a wait, which the command line shows without `--verbose` too."""
    logging.getLogger("hpcsched.progress").info(line)


class CompileNotes:
    """Listener of compilation that says how long it takes.

    It says so after a second, and then every ten seconds until it is done. Of several threads that
    compile or wait for each other, one is told of.

    Parameters
    ----------
    tell
        Receives the lines.
    interval
        Real seconds between two lines.
    update
        Receives the new text of a single line each second, in place of lines; empty at the end.
    """

    def __init__(
        self,
        tell: Callable[[str], None] = say,
        interval: float = INTERVAL,
        *,
        update: Callable[[str], None] | None = None,
    ) -> None:
        self._tell, self._interval, self._update = tell, interval, update
        self._told = False
        self._speaks = Lock()

    def begins(self, names: Sequence[str]) -> "_Noted":
        """Return the notes of one compilation."""
        return _Noted(names, self._follow)

    def _follow(self, noted: "_Noted") -> None:
        """Show a compilation until its end, once no other one is shown."""
        # Most functions take less than a second, which is no reason for a note.
        first = min(self._interval, UPDATES)
        if noted.done.wait(first):
            return
        while not self._speaks.acquire(blocking=False):
            if noted.done.wait(first):
                return
        try:
            if self._update is None:
                self._tell_lines(noted, first)
            else:
                self._update_line(noted, self._update)
        finally:
            self._speaks.release()

    def _tell_lines(self, noted: "_Noted", first: float) -> None:
        # Several pieces of code may be compiled in one run, and each is a reason to wait.
        if not self._told:
            self._told = True
            about = "some tens of seconds"
            if noted.recorded is not None:
                about = f"about {noted.recorded:.0f} s"
            self._tell(f"{COMPILING}, {about})")
        wait = max(self._interval - first, first)
        while not noted.done.wait(wait):
            self._tell(f"still compiling: {noted.state()}")
            wait = self._interval

    def _update_line(self, noted: "_Noted", update: Callable[[str], None]) -> None:
        update(f"{COMPILING}): {noted.state()}")
        while not noted.done.wait(UPDATES):
            update(f"{COMPILING}): {noted.state()}")
        update("")


class _Noted:
    """One compilation, with an estimate of its time; `done` is set at its end."""

    def __init__(self, names: Sequence[str], follow: "Callable[[_Noted], None]") -> None:
        self._names, self._began = names, monotonic()
        self.done = Event()
        self.recorded = expected_seconds(names)
        self._by_share: float | None = None
        self._thread = Thread(target=follow, args=(self,), daemon=True)
        self._thread.start()

    def proceeds(self, share: float) -> None:
        """Estimate the time from the share that is done."""
        if share >= LEAST_SHARE:
            self._by_share = (monotonic() - self._began) / share

    def ends(self, seconds: float | None) -> None:
        """Record the time, from which the next note makes its estimate."""
        self.done.set()
        self._thread.join()  # nothing is told after the end
        # The wait for another process says nothing: it may have been at its end.
        if seconds is not None:
            record_seconds(self._names, seconds)

    def state(self) -> str:
        """Return the time so far and the estimate: the last duration, while it is not over."""
        passed = monotonic() - self._began
        estimates = [one for one in (self.recorded, self._by_share) if one is not None]
        for estimate in estimates:
            if passed < estimate:
                return f"{passed:.0f} s of about {estimate:.0f} s"
        return f"{passed:.0f} s{' so far' if self.recorded is None else ', longer than expected'}"
