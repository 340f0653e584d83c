"""Replays jobs against a system and a dispatcher that is asked in Python, event by event.

At each instant: ends, then outages, then submissions, then one dispatching round if jobs wait. The
loop of events is that of the core, which calls for each decision. A decision is checked when it
is given (see `check`), before it is carried out; nothing is repaired. A job of zero run time ends
in the instant in which it starts, which opens one more round of that instant if jobs still wait.

A round that is charged a latency takes simulated time. Jobs end and are submitted meanwhile, but
no other round begins; once its decision is carried out, the next round is due at once if anything
did. A decision can always be carried out late: nothing else starts jobs, so the room is still free.

More than room may be needed to start a job: other jobs may have to end before, a partition may
limit what its users run, or the log may start it later. Dispatchers are shown the jobs that may
start. If that is none, the round is held without it, so that it is known what waited.

Where the system has shared resources, a round is held whenever one of them changes while jobs wait.
A start for which a shared resource has had too little since the decision was asked for is not
carried out; its job waits on.

Where there are outages, nodes come back and go out of service after the ends of an instant and
before its submissions. Jobs on nodes that go are put back into the queue, at their old places, or
leave as failed. Dispatchers are shown each job as one that may only use the nodes that are open to
it. A start on a node that has been closed since the decision was asked for is not carried out.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_admission import admitted
from hpcsched.workload.job import TracedJob, within_bounds
from hpcsched.workload.job_batches import (
    JobColumns,
    NeedsPythonError,
    RequestNumbers,
    columns_of,
)

AHEAD = 512
"""Number of jobs that are read at a time."""


class Simulation:
    """One replay by a dispatcher in Python; `run` can be called once.

    Attributes
    ----------
    waiting, running
        Numbers of jobs in the system, also after `stop`.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._replay = EventLoop(parts, places=False, in_python=True)

    @property
    def waiting(self) -> int:
        """Number of jobs in the queue."""
        return self._replay.waiting

    @property
    def running(self) -> int:
        """Number of running jobs."""
        return self._replay.running

    @property
    def stopped(self) -> bool:
        """True after `stop`."""
        return self._replay.stopped

    def stop(self) -> None:
        """End the replay after the present instant, with jobs left in the system.

        A decision that is due later is dropped; its jobs stay in the queue.
        """
        self._replay.stop()

    def run(self, jobs: Iterator[TracedJob]) -> None:
        """Replay jobs until all have left or the replay is stopped.

        Parameters
        ----------
        jobs
            Jobs by ascending submit time.
        """
        with as_input_error():
            for _ in self._replay.run(admitted(batches_in_order(jobs), self._parts)):
                pass


@contextmanager
def as_input_error() -> Iterator[None]:
    """Report jobs that need a replay in Python, in a replay in Python, as the user's input."""
    try:
        yield
    except NeedsPythonError as why:
        message = f"the jobs cannot be replayed: {why}"
        raise InputError(Finding("too-large", message, key="trace")) from None


def batches_in_order(jobs: Iterable[TracedJob]) -> Iterator[JobColumns]:
    """Yield jobs as columns, in batches, checking their times and their order."""
    return columns_of(_in_order(within_bounds(iter(jobs))), RequestNumbers(), AHEAD)


def _in_order(jobs: Iterator[TracedJob]) -> Iterator[TracedJob]:
    """Yield jobs, checking that submit times ascend."""
    before = 0
    for traced in jobs:
        job = traced.job
        if job.submit_time < before:
            raise PluginError(
                f"trace source: job {job.job_id} is submitted at {job.submit_time},"
                f" before a job that was submitted at {before}"
            )
        before = job.submit_time
        yield traced
