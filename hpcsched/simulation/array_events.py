"""What happens in a replay of columns, as records: for what follows single events in Python.

The compiled loop writes its events down in order. They are gone through whenever it returns, as
`hpcsched.simulation.engine` would have told of them at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FollowedTables, Output, Tables
from hpcsched.dispatching.problem import RunningJob, WaitingJob, waiting_job
from hpcsched.simulation.array_holding import ArrayHolding
from hpcsched.simulation.downtime import NOTHING_LOST, LostAttempts
from hpcsched.simulation.listeners import listeners
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import (
    REFUSALS,
    Interruption,
    JobRecord,
    JobState,
    RoundRecord,
)
from hpcsched.simulation.telling import additional_data
from hpcsched.system.allocation import NodeAllocation
from hpcsched.workload.columns import NeedsPythonError
from hpcsched.workload.job import TracedJob


class _Present(NamedTuple):
    """A job in the system, how it ends if it runs on, and what attempts were lost."""

    waiting: WaitingJob
    state: JobState
    lost: LostAttempts = NOTHING_LOST


class ArrayEvents:
    """The events of a replay, told to what follows them and to what holds jobs back.

    Jobs are known by their places among all submitted. `heard` says whether anything follows.
    """

    def __init__(self, parts: Parts, holding: ArrayHolding | None) -> None:
        self._parts, self._holding = parts, holding
        self._tell = listeners(parts.observers, parts.followers)
        self.heard = any(self._tell) or bool(parts.givers)
        # Jobs that were read and have not been submitted, and how many were read.
        self._coming: dict[int, TracedJob] = {}
        self._read = 0
        # The jobs in the system, and the running ones, by their places among all submitted.
        self._present: dict[int, _Present] = {}
        self._running: dict[int, RunningJob] = {}
        # How many of the events, and of the places of jobs that started, were gone through.
        self._told = self._places = 0

    def waiting(self, number: int) -> WaitingJob:
        """Return a job in the system as it was submitted."""
        return self._present[number].waiting

    def running(self, number: int) -> RunningJob:
        """Return a running job as it was started."""
        return self._running[number]

    def taken(self) -> None:
        """Take note that what is written down begins anew."""
        self._told = self._places = 0

    def read(self, jobs: Sequence[TracedJob]) -> None:
        """Take note of the next batch of jobs."""
        self._coming.update(enumerate(jobs, self._read))
        self._read += len(jobs)

    def catch_up(self, tables: Tables, followed: FollowedTables, output: Output) -> None:
        """Tell of all events that were written down since.

        Raises NeedsPythonError where an observer fails: the loop of events in Python says how.
        """
        try:
            self._tell_of_all(tables, followed, output)
        except Exception as error:
            raise NeedsPythonError("an observer that fails") from error

    def _tell_of_all(self, tables: Tables, followed: FollowedTables, output: Output) -> None:
        assert followed.events is not None
        events = followed.events[self._told : tables.counters[codes.OUT_EVENTS]].tolist()
        self._told += len(events)
        for kind, now, number, row, value in events:
            if kind == codes.SUBMITTED_JOB:
                self._submit(now, number, value)
                if self._holding is not None:
                    self._holding.submitted(self._present[number].waiting, number, row, now, tables)
            elif kind == codes.STARTED_JOB:
                self._start(now, number, value, followed)
            elif kind == codes.LOST_JOB:
                self._lose(now, number, row, requeued=bool(value))
            elif kind == codes.ENDED_JOB:
                running, present = self._running.pop(number), self._present.pop(number)
                for follow in self._tell.followed_ends:
                    follow(running, now)
                self._leave(running, present, present.state, now)
            elif kind == codes.ASKED_ROUND:
                # Nothing that decides in compiled code looks at what they tell.
                additional_data(self._parts.givers, now)
            elif kind == codes.REJECTED_JOB:
                self._reject(now, number, row, value)
            else:
                self._round(number, output)

    def _submit(self, now: int, number: int, predicted: int) -> None:
        job, run_time = self._coming.pop(number)
        waiting = waiting_job(job, predicted, self._parts.system)
        killed = self._parts.kill_at_requested_time and run_time > job.requested_time
        self._present[number] = _Present(waiting, "killed" if killed else "completed")
        for tell in self._tell.submitted:
            tell(waiting)

    def _reject(self, now: int, number: int, refused_by: int, predicted: int) -> None:
        """Have a job be submitted that is refused."""
        waiting = waiting_job(self._coming.pop(number).job, predicted, self._parts.system)
        if self._holding is not None:
            self._holding.refused(waiting, now)
        for tell in self._tell.submitted:
            tell(waiting)
        if self._tell.ended:
            job, demand, refusal = waiting.job, waiting.demand, REFUSALS[refused_by]
            record = JobRecord(job, demand, predicted, "rejected", None, None, None, refusal)
            for tell_end in self._tell.ended:
                tell_end(record)

    def _start(self, now: int, number: int, last_place: int, followed: FollowedTables) -> None:
        waiting = self._present[number].waiting
        places = slice(self._places, last_place)
        self._places = last_place
        assert followed.start_nodes is not None
        assert followed.start_units is not None
        nodes = followed.start_nodes[places].tolist()
        units = followed.start_units[places].tolist()
        running = RunningJob(
            now + waiting.predicted_run_time,
            waiting.job_id,
            now,
            waiting.units,
            NodeAllocation(tuple(nodes), tuple(units)),
            waiting,
        )
        self._running[number] = running
        if self._holding is not None:
            self._holding.started(running, number)
        for tell in self._tell.started:
            tell(running)

    def _lose(self, now: int, number: int, row: int, *, requeued: bool) -> None:
        """Have a job run no more that has lost a node; it waits again or leaves."""
        running, present = self._running.pop(number), self._present[number]
        start, allocation = running.start_time, running.allocation
        for follow in self._tell.followed_ends:
            follow(running, now)
        if self._tell.interrupted:
            told = Interruption(present.waiting.job, start, now, allocation, requeued)
            for tell in self._tell.interrupted:
                tell(told)
        if not requeued:
            del self._present[number]
            self._leave(running, present, "failed", now)
            return
        requeues, lost_time = present.lost
        lost = LostAttempts(requeues + 1, lost_time + now - start)
        self._present[number] = present._replace(lost=lost)
        if self._holding is not None:
            self._holding.put_back(running, number, row)

    def _leave(self, running: RunningJob, present: _Present, state: JobState, now: int) -> None:
        """Have a job leave that runs no more."""
        waiting = present.waiting
        if self._holding is not None:
            self._holding.ended(running, now)
        if not self._tell.ended:
            return
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            state,
            running.start_time,
            now,
            running.allocation,
            None,
            *present.lost,
        )
        for tell in self._tell.ended:
            tell(record)

    def _round(self, k: int, output: Output) -> None:
        if not self._tell.rounds:
            return
        row = output.rounds[k].tolist()
        types = len(self._parts.system.resource_types)
        number, now, queued, running, started, waiting, latency, *amounts = row
        record = RoundRecord(
            number,
            now,
            queued,
            running,
            started,
            0,
            waiting,
            tuple(amounts[:types]),
            tuple(amounts[types : 2 * types]),
            latency,
            tuple(amounts[2 * types :]),
            float(output.decision_times[k]),
            False,
            None,
        )
        for tell in self._tell.rounds:
            tell(record)
