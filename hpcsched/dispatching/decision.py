"""The decision: what a dispatching round answers."""

from typing import NamedTuple

from hpcsched.system.allocation import Allocation


class Start(NamedTuple):
    """A job to start now, and where."""

    job_id: int
    allocation: Allocation


class Decision(NamedTuple):
    """Jobs to start now, and jobs to refuse for good; the other queued jobs wait.

    `fallback` says that the dispatcher could not answer as it should and that a simpler rule did.
    """

    starts: tuple[Start, ...] = ()
    rejected: tuple[int, ...] = ()
    fallback: bool = False


NOTHING = Decision()
"""Let every job wait."""
