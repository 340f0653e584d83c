"""SIGTERM and SIGHUP interrupt a command as Ctrl-C does."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from hpcsched.interrupts import (
    heeded_signals,
    raised_as_interrupts,
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
