"""The dispatcher that tunes itself, by replays of the past as a dispatcher may know it.

The past has arrivals, and run times of the jobs that have ended. Replays of it under the members of
a portfolio are compared by the objective.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import inf
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.hyper.params import HyperParams, label_of
from hpcsched.dispatching.offline.offline_trace import PlanTable
from hpcsched.dispatching.problem import (
    Dispatcher,
    DispatchingProblem,
    Objective,
    RunningJob,
    WaitingJob,
    plans_past_outages,
)
from hpcsched.registration import Context
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of, joined_columns

BoolArray = npt.NDArray[np.bool_]

NOT_YET = -1
"""The start of a job that has not started, and the end of one that has not ended."""

BLOCKS = 32
"""Number of blocks of jobs, each of which is left out in turn when members are compared."""


@dataclass(frozen=True, slots=True)
class PastJobs:
    """Jobs that had been submitted by `now`, in order of submission, `[J]`.

    The `run_time` of each is the real one once it is known, and before that the predicted one, or
    one second longer than the job has run if that is more. Its `requested_time` is the predicted
    run time.
    """

    columns: JobColumns
    demands: Any
    now: int

    def __len__(self) -> int:
        return len(self.columns.submit_time)


class Past:
    """Jobs as they were submitted, with their starts and ends."""

    def __init__(self) -> None:
        self._jobs: list[TracedJob] = []
        self._demands: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._in_system: dict[int, int] = {}

    @property
    def seen(self) -> int:
        """Number of jobs submitted so far."""
        return len(self._starts)

    def see(self, problem: DispatchingProblem) -> None:
        """Take note of jobs that have been submitted; a queue is in order of arrival."""
        known = self._in_system
        new = list(takewhile(lambda job: job.job_id not in known, reversed(problem.queue)))
        for job in reversed(new):
            self._add(job)

    def started(self, running: RunningJob) -> None:
        """Take note of a start."""
        if running.job_id not in self._in_system:
            self._add(running.waiting)
        self._starts[self._in_system[running.job_id]] = running.start_time

    def ended(self, running: RunningJob, end_time: int) -> None:
        """Take note of an end."""
        place = self._in_system.pop(running.job_id, None)
        if place is not None:
            self._ends[place] = end_time

    def jobs(self, now: int, memory: int) -> PastJobs:
        """Return the last `memory` jobs; there is at least one."""
        last = slice(-memory, None)
        columns = joined_columns([*columns_of(self._jobs[last], RequestNumbers())])
        starts, ends = np.array(self._starts[last]), np.array(self._ends[last])
        predicted = columns.requested_time
        lasting = np.maximum(predicted, now - starts + 1)
        run_times = np.where(starts == NOT_YET, predicted, lasting)
        run_times = np.where(ends == NOT_YET, run_times, ends - starts)
        # What was held back is seen later than what was submitted after it.
        places = np.argsort(columns.submit_time, kind="stable")
        demands = np.array(self._demands[last])
        # Whole numbers beyond int64 make an array of objects, which NumPy's functions refuse.
        if demands.dtype == object:
            demands = demands.astype(np.float64)
        return PastJobs(columns._replace(run_time=run_times).take(places), demands[places], now)

    def _add(self, job: WaitingJob) -> None:
        self._in_system[job.job_id] = self.seen
        asked = job.job._replace(requested_time=job.predicted_run_time, after=(), think_time=0)
        self._jobs.append(TracedJob(asked, job.predicted_run_time))
        self._demands.append(job.demand)
        self._starts.append(NOT_YET)
        self._ends.append(NOT_YET)


def score(
    objective: Objective, jobs: PastJobs, starts: IntArray, kept: slice | BoolArray = slice(None)
) -> float:
    """Return the objective over some of the jobs, which start at `starts`, `[J]`.

    Jobs that have not started by now count as if they started now: of later starts nothing is
    known, since jobs that are yet to come may change them. An objective that looks at none of the
    jobs is 0 under every member.
    """
    submit_times, run_times = jobs.columns.submit_time[kept], jobs.columns.run_time[kept]
    starts = np.minimum(starts, jobs.now)[kept]
    columns = {
        "submit_time": submit_times,
        "start_time": starts,
        "end_time": starts + run_times,
        "run_time": run_times,
        "wait_time": starts - submit_times,
        "demand": jobs.demands[kept],
    }
    value = objective.measure(PlanTable(columns))
    return 0.0 if value is None else float(value)


Scores = Sequence[float]
"""The objective under a member: over all jobs, then without each block of them, `[1 + B]`."""


def scores_of(objective: Objective, jobs: PastJobs, starts: IntArray) -> Scores:
    """Return the objective with and without each block of jobs in succession."""
    blocks = min(BLOCKS, len(jobs))
    block_of = np.arange(len(jobs)) * blocks // len(jobs)
    without = [score(objective, jobs, starts, block_of != k) for k in range(blocks)]
    return [score(objective, jobs, starts), *without]


def better(scores: Sequence[Scores], present: int, least_t: float) -> int | None:
    """Return the best of the members that are better than the present one, if any is.

    The gain has to be more than `least_t` standard errors. The standard error is the jackknife's,
    by the gains without each block: differences come from few bursts, and the jobs of one burst say
    as little as one job.
    """
    gains = np.array(scores[present]) - np.array(scores)
    without = gains[:, 1:]
    errors = np.sqrt((without.shape[1] - 1) * without.var(axis=1))
    able = np.flatnonzero(gains[:, 0] > least_t * errors).tolist()
    return min(able, key=lambda k: scores[k][0], default=None)


class Rehearsal(Protocol):
    """Replays jobs on the scenario's system, empty at first, under a dispatcher made anew.

    The `requested_time` of each job stands for its predicted run time.
    """

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission."""


class Member(NamedTuple):
    """One of the portfolio: its declaration, its name, and the dispatcher that decides."""

    choice: Any
    label: str
    dispatcher: Dispatcher


class Hyper:
    """Replays the past under a portfolio, and has the member decide that would have served best.

    The past is replayed whenever twice as many jobs have come as were replayed, one member a round,
    so that all replays take less than one of all jobs does under each member.
    """

    def __init__(
        self,
        members: Sequence[Member],
        rehearsal: Rehearsal,
        objective: Objective,
        params: HyperParams,
    ) -> None:
        self._members, self._rehearsal = members, rehearsal
        self._objective, self._params = objective, params
        self._present, self._why = 0, "it is the one to begin with"
        self._told = False
        self.plans_past_outages = any(plans_past_outages(one.dispatcher) for one in members)
        self._past = Past()
        self._next_at = params.least_jobs if len(members) > 1 else inf
        # The jobs that are being replayed, and the objective under the members so far.
        self._replayed: PastJobs | None = None
        self._scores: list[Scores] = []

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the members of the portfolio."""
        return tuple(member.label for member in self._members)

    def job_started(self, job: RunningJob) -> None:
        """Take note that a job has started."""
        self._past.started(job)

    def job_ended(self, job: RunningJob, end_time: int) -> None:
        """Take note that a job has ended."""
        self._past.ended(job, end_time)

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the decision of the present member of the portfolio."""
        self._past.see(problem)
        self._replay(problem.now)
        member = self._members[self._present]
        decision = member.dispatcher.dispatch(problem)
        if self._told:
            return decision
        self._told = True
        return decision._replace(chosen=member.label, because=self._why)

    def _replay(self, now: int) -> None:
        """Replay the past under the next member; after the last, maybe move to another."""
        # Jobs are counted, not seconds: what is replayed when must not depend on the machine.
        if self._replayed is None:
            if self._past.seen < self._next_at:
                return
            self._replayed, self._scores = self._past.jobs(now, self._params.memory), []
        jobs = self._replayed
        choice = self._members[len(self._scores)].choice
        starts = self._rehearsal.starts(choice, jobs.columns)
        self._scores.append(scores_of(self._objective, jobs, starts))
        if len(self._scores) == len(self._members):
            self._replayed, self._next_at = None, self._past.seen + 2 * len(jobs)
            self._move(len(jobs))

    def _move(self, jobs: int) -> None:
        """Move to the member that served best, if by enough."""
        to = better(self._scores, self._present, self._params.least_t)
        if to is not None:
            value, before = (f"{np.round(self._scores[k][0], 5):.5g}" for k in (to, self._present))
            label = self._members[self._present].label
            self._why = f"{value} against {before} of {label} over {jobs} jobs"
            self._present, self._told = to, False


def make_hyper(params: HyperParams, context: Context, rehearsal: Rehearsal) -> Hyper:
    """Return `hyper`; `rehearsal` replays the past for it."""
    members = [
        Member(choice, label_of(choice), context.make("dispatcher", choice))
        for choice in params.portfolio
    ]
    return Hyper(members, rehearsal, context.objective, params)
