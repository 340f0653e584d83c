"""SIGTERM and SIGHUP interrupt a command as Ctrl-C does."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from hpcsched.interrupts import (
    heeded_signals,
    killed_where_stuck,
    raised_as_interrupts,
    remembered_interrupts,
)


@contextmanager
def handled(number: signal.Signals, handler: signal.Handlers) -> Iterator[None]:
    """Let this process handle a signal in another way for a while."""
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_raises(number: signal.Signals) -> None:
    """The process is interrupted, not ended, and what was the rule before is it again."""
    with handled(number, signal.SIG_DFL):
        with pytest.raises(KeyboardInterrupt), raised_as_interrupts():
            os.kill(os.getpid(), number)
        assert signal.getsignal(number) is signal.SIG_DFL


def test_what_is_ignored_stays_ignored() -> None:
    """As under `nohup`; SIGINT is heeded even so."""
    with (
        handled(signal.SIGHUP, signal.SIG_IGN),
        handled(signal.SIGINT, signal.SIG_IGN),
        raised_as_interrupts(),
    ):
        os.kill(os.getpid(), signal.SIGHUP)
        assert list(heeded_signals()) == [signal.SIGINT, signal.SIGTERM]


def test_a_lost_interrupt_is_remembered() -> None:
    """An exception raised within a finaliser is lost; the next check raises it again."""
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(KeyboardInterrupt), remembered_interrupts() as check:
        check()
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        check()
    assert signal.getsignal(signal.SIGTERM) is before


STUCK = """\
import ctypes, os, signal
from hpcsched.interrupts import killed_where_stuck
signal.signal(signal.SIGTERM, signal.default_int_handler)
library, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(256)
with killed_where_stuck(0.1):
    library.pthread_mutex_lock(mutex)
    print("stuck", flush=True)
    library.pthread_mutex_lock(mutex)
"""


def test_code_that_does_not_return_is_killed() -> None:
    """A library that waits for ever in C keeps Python from handling the signal."""
    command = [sys.executable, "-c", STUCK]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "stuck\n"
        time.sleep(0.5)  # from there on to the lock Python itself would handle the signal
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "interrupted in a solver that does not return, so that no results are kept\n"


def test_code_that_returns_in_time_is_not_killed() -> None:
    """The signal is handled as ever."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), killed_where_stuck(30.0):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert signal.set_wakeup_fd(-1) == -1
