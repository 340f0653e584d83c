"""Continuations of a replay from one instant: with other run times, and with other later jobs."""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

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
    sequence
        Place of the job among all submitted.
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


class ReplayBranch:
    """State of a replay at an instant, after its submissions and before its round.

    Parameters
    ----------
    loop
        The replay, which is copied and can go on.
    """

    def __init__(self, loop: EventLoop) -> None:
        self._loop = _copied(loop)
        self.now = loop.now
        self.submitted = loop.submitted
        state = loop.state
        rows = np.concatenate((state.running_rows, state.queue))
        self._rows, self._running = rows, loop.running
        start = state.jobs("start", rows)
        start[loop.running :] = -1
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
        self, run_times: IntArray, later: Iterable[JobColumns], wanted: IntArray
    ) -> IntArray:
        """Return start times in a continuation of the replay.

        Parameters
        ----------
        run_times
            Run times of the present jobs in this continuation, `[J]`, in seconds; those of running
            jobs reach beyond this instant.
        later
            Jobs submitted from this instant on, batch by batch; none is read once all wanted jobs
            have started.
        wanted
            Places of jobs among all submitted, ascending, `[W]`.

        Returns
        -------
        IntArray
            Start times of the wanted jobs, `[W]`, in seconds; -1 of jobs that did not start.

        Raises
        ------
        NeedsPythonError
            If the jobs cannot be replayed in compiled code.
        """
        loop = _copied(self._loop)
        self._set_run_times(loop, run_times)
        starts = np.full(len(wanted), -1, dtype=np.int64)

        def note(sequence: IntArray, start_time: IntArray) -> None:
            place = np.searchsorted(wanted, sequence)
            known = (place < len(wanted)) & (
                wanted[np.minimum(place, len(wanted) - 1)] == sequence
            )  # fmt: skip
            starts[place[known]] = start_time[known]

        def batches() -> Iterator[JobColumns]:
            for columns in later:
                _note_running(loop, note)
                submitted = wanted < loop.submitted
                if submitted.all() and (starts >= 0).all():
                    loop.stop()
                    return
                yield columns

        for written in loop.run(batches()):
            ran = written.left.rejected_by < 0
            note(written.left.sequence[ran], written.left.start_time[ran])
        _note_running(loop, note)
        return starts

    def _set_run_times(self, loop: EventLoop, run_times: IntArray) -> None:
        if loop.parts.kill_at_requested_time:
            run_times = np.minimum(run_times, self.present.requested_time)
        loop.state.set_run_times(self._rows, run_times)


class Branched(NamedTuple):
    """A branch of a replay.

    Attributes
    ----------
    submitted
        Number of jobs submitted before it.
    branch
        The state.
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
    parts
        Parts of the simulation.
    columns
        All jobs of the trace.
    cuts
        Numbers of jobs, ascending: after so many submissions there is a branch.

    Raises
    ------
    NeedsPythonError
        If the jobs cannot be replayed in compiled code.
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
        ended.append(written.left.sequence[written.left.rejected_by < 0])
    yield from reached


def _copied(loop: EventLoop) -> EventLoop:
    """Return a copy of a replay that shares the constant parts.

    Raises
    ------
    InputError
        If a part, such as a dispatcher that holds a file, cannot be copied.
    """
    parts = loop.parts
    shared = (
        parts.system,
        parts.outages,
        parts.partitions,
        parts.givers,
        parts.job_limits,
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


def _note_running(loop: EventLoop, note: Callable[[IntArray, IntArray], None]) -> None:
    state, rows = loop.state, loop.state.running_rows
    note(state.jobs("sequence", rows), state.jobs("start", rows))
