"""Notes on standard error while code is compiled: how long it takes, and how far it is."""

import logging
from collections.abc import Callable, Sequence
from threading import Event, Thread

from hpcsched.dispatching.core.compile_record import expected_seconds, record_seconds

COMPILING = "compiling (first use on this machine"
"""Begin of the note before code is compiled."""

INTERVAL = 10.0
"""Real seconds between two notes while code is compiled."""


def say(line: str) -> None:
    """Log a note about a wait, which the command line shows without `--verbose` too."""
    logging.getLogger("hpcsched.progress").info(line)


class CompileNotes:
    """Listener of compilation that says so once, and then every ten seconds until it is done.

    Parameters
    ----------
    tell
        Receives the lines.
    interval
        Real seconds between two lines.
    """

    def __init__(self, tell: Callable[[str], None] = say, interval: float = INTERVAL) -> None:
        self._tell, self._interval = tell, interval
        self._told = False
        self._done = Event()

    def begins(self, names: Sequence[str]) -> None:
        """Say that code is compiled; once is enough."""
        expected = expected_seconds(names)
        # Several pieces of code may be compiled in one run, and each is a reason to wait.
        if not self._told:
            self._told = True
            about = "some tens of seconds" if expected is None else f"about {expected:.0f} s"
            self._tell(f"{COMPILING}, {about})")
        self._done = Event()
        Thread(target=self._go_on, args=(self._done, expected), daemon=True).start()

    def ends(self, names: Sequence[str], seconds: float | None) -> None:
        """Record the time, from which the next note makes its estimate."""
        self._done.set()
        # The wait for another process says nothing: it may have been at its end.
        if seconds is not None:
            record_seconds(names, seconds)

    def _go_on(self, done: Event, expected: float | None) -> None:
        passed = 0.0
        while not done.wait(self._interval):
            passed += self._interval
            if expected is None:
                self._tell(f"still compiling: {passed:.0f} s so far")
            elif passed < expected:
                self._tell(f"still compiling: {passed:.0f} s of about {expected:.0f} s")
            else:
                self._tell(f"still compiling: {passed:.0f} s, longer than the last time")
