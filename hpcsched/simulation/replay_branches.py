"""Continuations of a replay from one instant: with other run times, and with other later jobs."""

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import NamedTuple

import numpy as np

from hpcsched._core import Batch
from hpcsched.errors import Finding, InputError
from hpcsched.simulation.event_loop import EventLoop
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns


class PresentJobs(NamedTuple):
    """Jobs in the system at an instant: the running ones, then the waiting ones, `[J]`.

    Attributes
    ----------
    start_time
        Start time in seconds; -1 where the job waits.
    requested_time, predicted
        Requested and predicted run time, in seconds.
    """

    sequence: IntArray
    start_time: IntArray
    requested_time: IntArray
    predicted: IntArray

    @property
    def waits(self) -> IntArray:
        """Indices of the waiting jobs."""
        return np.flatnonzero(self.start_time < 0)


class LaterJobs:
    """Jobs that are submitted later, read batch by batch as far as they are needed."""

    def __init__(self, batches: Iterable[JobColumns] = ()) -> None:
        self._unread = iter(batches)
        self._read: list[JobColumns] = []

    def at(self, k: int) -> JobColumns | None:
        """Return a batch; None behind the last."""
        while len(self._read) <= k:
            columns = next(self._unread, None)
            if columns is None:
                return None
            self._read.append(columns)
        return self._read[k]

    def __iter__(self) -> Iterator[JobColumns]:
        """Yield all batches."""
        for k in count():
            columns = self.at(k)
            if columns is None:
                return
            yield columns


class ReplayBranch:
    """State of a replay at an instant, after its submissions and before its round."""

    def __init__(self, loop: EventLoop) -> None:
        self._loop = _copied(loop)
        state = loop.state
        self.now, self.submitted = state.now, state.submitted
        rows = np.concatenate((state.running_rows, state.queue))
        self._rows, self._running = rows, state.running
        start = state.jobs("start", rows)
        start[state.running :] = -1
        columns = "sequence", "requested_time", "predicted"
        sequence, requested, predicted = (state.jobs(column, rows) for column in columns)
        self.present = PresentJobs(sequence, start, requested, predicted)

    @property
    def dispatcher_name(self) -> str:
        """Name of the dispatcher."""
        return self._loop.parts.dispatcher_name

    def set_submit_times(self, submit_times: IntArray) -> None:
        """Set the submit times of the waiting jobs, in the order of their submission.

        Orders by wait time then count waits that began before the replay.

        Parameters
        ----------
        submit_times
            In seconds, not above `now`.
        """
        queue = self._rows[self._running :]
        places = np.argsort(self._loop.state.jobs("sequence", queue))
        self._loop.state.set_jobs("submit_time", queue[places], submit_times)

    def start_times(
        self,
        run_times: IntArray,
        later: Sequence[LaterJobs],
        wanted: IntArray,
        ended: Callable[[int], None] = lambda _: None,
    ) -> IntArray:
        """Return start times in continuations of the replay, `[F, W]`, in seconds.

        Jobs that do not start have -1.

        Parameters
        ----------
        run_times
            Run times of the present jobs in each continuation, `[F, J]`, in seconds; those of
            running jobs reach beyond this instant.
        later
            Jobs submitted from this instant on in each continuation, `[F]`; no more are read once
            all wanted jobs have started.
        wanted
            Places of jobs among all submitted, ascending, `[W]`.
        """
        if self._loop.parts.kill_at_requested_time:
            run_times = np.minimum(run_times, self.present.requested_time)
        if self._loop.is_in_core:
            return self._in_core(run_times, later, wanted, ended)
        starts = np.empty((len(run_times), len(wanted)), dtype=np.int64)
        for number, (own, jobs) in enumerate(zip(run_times, later, strict=True)):
            loop = _copied(self._loop)
            loop.state.set_run_times(self._rows, own)
            loop.state.seek(wanted.tolist())
            for _ in loop.run(jobs):
                pass
            starts[number] = loop.state.sought
            ended(number + 1)
        return starts

    def _in_core(
        self,
        run_times: IntArray,
        later: Sequence[LaterJobs],
        wanted: IntArray,
        ended: Callable[[int], None],
    ) -> IntArray:
        """Return start times; no part of the replay is Python's, so that threads help."""
        state = self._loop.state.copy()
        # Batches are made once for all continuations with the same later jobs. Each of these checks
        # them by itself, since they may have the same numbers.
        made: dict[int, tuple[EventLoop, list[Batch]]] = {}
        for jobs in later:
            if id(jobs) not in made:
                made[id(jobs)] = _copied(self._loop), []
                first = jobs.at(0)
                if first is not None:
                    self._loop.shapes.add(state, first.requests[state.requests :])

        def batch(future: int, k: int) -> Batch:
            jobs = later[future]
            loop, batches = made[id(jobs)]
            while len(batches) <= k:
                batches.append(loop.batch_of(jobs.at(len(batches))))
            return batches[k]

        threads = len(os.sched_getaffinity(0))
        return state.future_starts(self._rows, run_times, wanted, batch, ended, threads)


class Branched(NamedTuple):
    """A branch of a replay.

    Attributes
    ----------
    ended
        Places of the jobs that have ended since the branch before, in order.
    """

    submitted: int
    branch: ReplayBranch
    ended: IntArray


def branches(parts: Parts, columns: JobColumns, cuts: Sequence[int]) -> Iterator[Branched]:
    """Replay jobs, and yield the state after certain submissions.

    Parameters
    ----------
    cuts
        Numbers of jobs, ascending: after so many submissions there is a branch.
    """
    in_python = bool(tuple(obstacles(parts)))
    loop = EventLoop(parts, places=False, in_python=in_python)
    ended: list[IntArray] = []
    reached: list[Branched] = []

    def batches() -> Iterator[JobColumns]:
        begin = 0
        for cut in cuts:
            if cut > begin:
                yield columns.take(np.arange(begin, cut))
            # The loop asks for the next jobs once these have been submitted.
            left = np.concatenate((*ended, np.empty(0, dtype=np.int64)))
            reached.append(Branched(cut, ReplayBranch(loop), left))
            ended.clear()
            begin = cut
        loop.stop()

    for written in loop.run(batches()):
        yield from reached
        reached.clear()
        ended.append(written.left.sequence[written.left.has_run])
    yield from reached


def _copied(loop: EventLoop) -> EventLoop:
    """Return a copy of a replay that shares the constant parts."""
    parts = loop.parts
    shared = (
        parts.system,
        parts.outages,
        parts.partitions,
        parts.policies,
        parts.givers,
    )
    try:
        return copy.deepcopy(loop, {id(one): one for one in shared})
    except Exception as error:
        name = parts.dispatcher_name
        message = (
            f"the dispatcher {name} cannot be forecast: it, its parts or the predictor hold what"
            f" cannot be copied for each future: {error}"
        )
        raise InputError(Finding("not-copied", message, key="dispatcher")) from error
