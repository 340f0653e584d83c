"""What happens in a replay of columns, as records: for what follows single events in Python.

The compiled loop writes its events down in order. They are gone through whenever it returns, as
`hpcsched.simulation.engine` would have told of them at once.
"""

from collections.abc import Sequence
from typing import NamedTuple

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import FollowedTables, Output, Tables
from hpcsched.dispatching.problem import RunningJob, WaitingJob, waiting_job
from hpcsched.simulation.listeners import listeners
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import REFUSALS, JobRecord, JobState, RoundRecord
from hpcsched.simulation.start_conditions import StartConditions
from hpcsched.system.allocation import NodeAllocation
from hpcsched.workload.columns import NeedsPythonError
from hpcsched.workload.job import TracedJob


class _Queued(NamedTuple):
    """A job in the queue, its row in the table of jobs, and how it ends if it runs."""

    waiting: WaitingJob
    row: int
    state: JobState


class ArrayEvents:
    """The events of a replay, told to observers and to the conditions under which jobs may start.

    `queue` has the jobs that wait, by their place among all submitted, in order of arrival. `heard`
    says whether an observer hears of anything.
    """

    def __init__(self, parts: Parts, conditions: StartConditions | None) -> None:
        self._parts, self._conditions = parts, conditions
        self._tell = listeners(parts.observers, ())
        self.heard = any(self._tell)
        # Jobs that were read and have not been submitted, and how many were read.
        self._coming: dict[int, TracedJob] = {}
        self._read = 0
        # Of the jobs in the system, the rows that they have in the table of jobs, by number.
        self._rows: dict[int, int] = {}
        self.queue: dict[int, _Queued] = {}
        self._running: dict[int, tuple[RunningJob, JobState]] = {}
        # How many of the events, and of the places of jobs that started, were gone through.
        self._told = self._places = 0

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
                self._submit(now, number, row, value)
                for other in self.queue[number].waiting.job.after:
                    if other in self._rows:
                        tables.jobs[self._rows[other], codes.WATCHED] = 1
            elif kind == codes.STARTED_JOB:
                self._start(now, number, value, followed)
            elif kind == codes.ENDED_JOB:
                self._end(now, number)
            elif kind == codes.REJECTED_JOB:
                self._reject(now, number, row, value)
            else:
                self._round(number, output)

    def _submit(self, now: int, number: int, row: int, predicted: int) -> None:
        job, run_time = self._coming.pop(number)
        self._rows[job.job_id] = row
        waiting = waiting_job(job, predicted, self._parts.system)
        killed = self._parts.kill_at_requested_time and run_time > job.requested_time
        self.queue[number] = _Queued(waiting, row, "killed" if killed else "completed")
        self._tell_submitted(waiting, now, queued=True)

    def _reject(self, now: int, number: int, refused_by: int, predicted: int) -> None:
        """Have a job be submitted that is refused."""
        waiting = waiting_job(self._coming.pop(number).job, predicted, self._parts.system)
        self._tell_submitted(waiting, now, queued=False)
        self._leave(
            waiting,
            JobRecord(
                waiting.job,
                waiting.demand,
                waiting.predicted_run_time,
                "rejected",
                None,
                None,
                None,
                REFUSALS[refused_by],
            ),
            now,
        )

    def _tell_submitted(self, waiting: WaitingJob, now: int, *, queued: bool) -> None:
        if self._conditions is not None:
            self._conditions.submitted(waiting, now, queued=queued)
        for tell in self._tell.submitted:
            tell(waiting)

    def _leave(self, waiting: WaitingJob, record: JobRecord, now: int) -> None:
        if self._conditions is not None:
            self._conditions.left(waiting.job_id, now)
        for tell in self._tell.ended:
            tell(record)

    def _start(self, now: int, number: int, last_place: int, followed: FollowedTables) -> None:
        waiting, _, state = self.queue.pop(number)
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
        self._running[number] = running, state
        if self._conditions is not None:
            self._conditions.started(running)
        for tell in self._tell.started:
            tell(running)

    def _end(self, now: int, number: int) -> None:
        running, state = self._running.pop(number)
        waiting = running.waiting
        del self._rows[waiting.job_id]
        if self._conditions is not None:
            self._conditions.released(running)
        record = JobRecord(
            waiting.job,
            waiting.demand,
            waiting.predicted_run_time,
            state,
            running.start_time,
            now,
            running.allocation,
        )
        self._leave(waiting, record, now)

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
