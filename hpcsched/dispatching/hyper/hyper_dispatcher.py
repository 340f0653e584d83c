"""The dispatcher that tunes itself, by replays of the past as a dispatcher may know it.

The past has arrivals, and run times of the jobs that have ended. Replays of it under the members of
a portfolio are compared by the objective.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from math import sqrt
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.hyper.params import HyperParams, label_of
from hpcsched.dispatching.objectives import BoundedSlowdown, Slowdown
from hpcsched.dispatching.offline.offline_trace import PlanTable
from hpcsched.dispatching.problem import (
    Dispatcher,
    DispatchingProblem,
    Objective,
    RunningJob,
    WaitingJob,
)
from hpcsched.registration import Context
from hpcsched.system.system import IntArray
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import JobColumns, RequestNumbers, columns_of, joined_columns

NOT_YET = -1
"""The start of a job that has not started, and the end of one that has not ended."""

FIRST = ("order-search allocator=first-fit", "order-search", "easy")
"""What decides at first, if it is in the portfolio."""

SHORT_JOBS_FIRST = ("list order=spf", *FIRST)
"""What decides at first by slowdown, unless predictions are found not to be exact."""

GROWTH = 1.25
"""The past is replayed anew when it has so many times the jobs."""

ENDS_JUDGED = 64
"""After so many ends it is known whether predictions are exact."""

EXACT_SHARE = 0.9
"""The share of exact predictions from which on they are taken to be."""

LEAST_COST = 1000
"""What a replay of fewer jobs counts as: it takes time to begin one."""

PYTHON_COST = 100
"""What a job counts as where a dispatcher is asked in Python in each round of a replay."""

PYTHON_JOBS = 1024
"""Such a dispatcher is replayed while there are no more jobs than these."""

LOST_IN_A_ROW = 3
"""Such a dispatcher is left after so many comparisons in a row in which it was behind.

Meanwhile the past doubles. There is no way back, and one comparison may hang on one backlog.
"""


@dataclass(frozen=True, slots=True)
class PastJobs:
    """The jobs that had been submitted by `now`, in order of submission, `[J]`.

    The `run_time` of each is the real one once it is known, and before that the predicted one, or
    one second longer than the job has run if that is more. Its `requested_time` is the predicted
    run time. `starts` are the real ones, `now` where a job has not started, and `places` say as
    which job each was seen.
    """

    columns: JobColumns
    demands: Any
    starts: IntArray
    places: IntArray
    now: int

    def __len__(self) -> int:
        return len(self.starts)


class Past:
    """Jobs as they were submitted, with their starts and ends, in columns.

    `seen` counts all that were submitted, `ends` those of them that have ended, and `exact` those
    that ended when they were predicted to.
    """

    def __init__(self) -> None:
        self._jobs: list[TracedJob] = []
        self._demands: list[int] = []
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._in_system: dict[int, int] = {}
        self.ends = self.exact = 0

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
            self.ends += 1
            predicted = running.waiting.predicted_run_time
            self.exact += end_time - running.start_time == predicted

    def jobs(self, now: int) -> PastJobs:
        """Return all jobs; there is at least one."""
        columns = joined_columns([*columns_of(self._jobs, RequestNumbers())])
        starts, ends = np.array(self._starts), np.array(self._ends)
        started, ended = starts != NOT_YET, ends != NOT_YET
        predicted = columns.requested_time
        run_times = np.where(started, np.maximum(predicted, now - starts + 1), predicted)
        run_times = np.where(ended, ends - starts, run_times)
        # What was held back is seen later than what was submitted after it.
        places = np.argsort(columns.submit_time, kind="stable")
        demands = np.array(self._demands)
        # Whole numbers beyond int64 make an array of objects, which NumPy's functions refuse.
        if demands.dtype == object:
            demands = demands.astype(np.float64)
        return PastJobs(
            columns._replace(run_time=run_times).take(places),
            demands[places],
            np.where(started, starts, now)[places],
            places,
            now,
        )

    def _add(self, job: WaitingJob) -> None:
        self._in_system[job.job_id] = self.seen
        asked = job.job._replace(requested_time=job.predicted_run_time, after=(), think_time=0)
        self._jobs.append(TracedJob(asked, job.predicted_run_time))
        self._demands.append(job.demand)
        self._starts.append(NOT_YET)
        self._ends.append(NOT_YET)


def score(objective: Objective, jobs: PastJobs, starts: IntArray, since: int) -> float:
    """Return the objective over the jobs seen from `since` on, if they start at `starts`.

    Jobs that have not started by now count as if they started now: of later starts nothing is
    known, since jobs that are yet to come may change them.
    """
    kept = jobs.places >= since
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
    return np.inf if value is None else float(value)


def better(scores: Mapping[int, float], present: int, hysteresis: float, jobs: int) -> int | None:
    """Return the member of least objective, if it beats the present one by enough.

    Enough is a share of the present objective that falls with the number of jobs, as chance does:
    `hysteresis` over its root.

    Parameters
    ----------
    hysteresis
        Share of the objective for one job.
    """
    # Of equal scores the first of the portfolio, in whatever order they were replayed.
    least = min(sorted(scores), key=lambda member: scores[member])
    if scores[least] < scores[present] * (1 - hysteresis / sqrt(jobs)):
        return least
    return None


def first_of(labels: Sequence[str], preferred: Sequence[str]) -> int:
    """Return the place of the first of the preferred labels that is there, or 0."""
    return next((labels.index(label) for label in preferred if label in labels), 0)


class Rehearsal(Protocol):
    """Replays jobs on the scenario's system, empty at first, under a dispatcher made anew.

    The `requested_time` of each job stands for its predicted run time.
    """

    def is_compiled(self, choice: Any) -> bool:
        """Say whether a dispatcher is replayed in compiled code, without Python at each round."""

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission."""


class Member(NamedTuple):
    """One of the portfolio: its declaration, its name, and the dispatcher that decides."""

    choice: Any
    label: str
    dispatcher: Dispatcher


class Replays(NamedTuple):
    """Replays of the past under some members, as far as a budget allows, one by one.

    They are compared over the jobs from the one seen as `since` on.
    """

    jobs: PastJobs
    since: int
    left: list[int]
    scores: dict[int, float]


class Hyper:
    """Replays the past under a portfolio, from its first job on, and has that decide which served.

    The past is replayed whenever it has grown by a share, so that all replays take a small multiple
    of what one replay of all jobs does. Members that are asked in Python at each round of a replay
    take a hundred times longer, and are replayed while the past is short. While such a member
    decides, it is not replayed: what really came of it since it took over is compared with what
    replays of the others came to for the same jobs. It has to be behind several times in a row.
    """

    def __init__(
        self,
        members: Sequence[Member],
        rehearsal: Rehearsal,
        objective: Objective,
        params: HyperParams,
        *,
        first: int,
        if_inexact: int,
    ) -> None:
        self._members, self._rehearsal = members, rehearsal
        self._objective, self._params = objective, params
        # Slowdowns vary most from job to job, so that differences by chance are largest.
        usual = 25 if isinstance(objective, Slowdown | BoundedSlowdown) else 4.5
        self._hysteresis = usual if params.hysteresis is None else params.hysteresis
        self._present, self._since = first, 0
        self._if_inexact: int | None = if_inexact
        self._why = "it is the one to begin with"
        self._told = False
        self._past = Past()
        self._quick = {
            k for k, member in enumerate(self._members) if rehearsal.is_compiled(member.choice)
        }
        self._replays: Replays | None = None
        self._lost = 0
        self._credit = 0.0
        self._next_at: float = params.least_jobs

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
        self._judge_predictions()
        if len(self._members) > 1:
            self._replay(problem.now)
        decision = self._members[self._present].dispatcher.dispatch(problem)
        if self._told:
            return decision
        self._told = True
        return decision._replace(chosen=self._members[self._present].label, because=self._why)

    def _judge_predictions(self) -> None:
        """Have the member for inexact predictions decide, if they are found to be, once."""
        past, member = self._past, self._if_inexact
        if member is None or past.ends < ENDS_JUDGED:
            return
        self._if_inexact = None
        if past.exact < EXACT_SHARE * past.ends and member != self._present:
            self._why = f"{past.exact} of {past.ends} predictions were exact"
            self._decide_from_now(member)

    def _replay(self, now: int) -> None:
        """Replay the past, as far as the budget allows, and maybe move to another member."""
        # Jobs are counted, not seconds: what is replayed when must not depend on the machine.
        self._credit += self._params.budget
        replays = self._replays
        if replays is None:
            if self._past.seen < self._next_at:
                return
            replays = self._replays = self._begin(now)
        while replays.left:
            member = replays.left[0]
            cost = len(replays.jobs) * (1 if member in self._quick else PYTHON_COST)
            cost = max(cost, LEAST_COST)
            if self._credit < cost:
                break
            self._credit -= cost
            del replays.left[0]
            starts = self._rehearsal.starts(self._members[member].choice, replays.jobs.columns)
            replays.scores[member] = score(self._objective, replays.jobs, starts, replays.since)
        if not replays.left:
            self._replays, self._next_at = None, GROWTH * len(replays.jobs)
            # A round without replays is no reason for many of them later.
            self._credit = 0.0
            self._move(replays)

    def _begin(self, now: int) -> Replays:
        """Return the part of the past that is to be replayed."""
        jobs = self._past.jobs(now)
        really = self._present not in self._quick
        members = [
            member
            for member in range(len(self._members))
            if member in self._quick or (len(jobs) <= PYTHON_JOBS and member != self._present)
        ]
        # Only from the job on at which it took over are real starts the present member's own.
        replays = Replays(jobs, self._since if really else 0, members, {})
        if really:
            found = score(self._objective, jobs, jobs.starts, replays.since)
            replays.scores[self._present] = found
        return replays

    def _move(self, replays: Replays) -> None:
        """Move to the member that served best, if by enough."""
        scores, present = replays.scores, self._present
        jobs = len(replays.jobs) - replays.since
        to = better(scores, present, self._hysteresis, jobs)
        self._lost = 0 if to is None else self._lost + 1
        if to is None or (present not in self._quick and self._lost < LOST_IN_A_ROW):
            return
        value, before = (f"{np.round(scores[member], 5):.5g}" for member in (to, present))
        self._why = f"{value} against {before} of {self._members[present].label} over {jobs} jobs"
        self._decide_from_now(to)

    def _decide_from_now(self, member: int) -> None:
        """Have another member decide, and compare anew."""
        # Replays in progress compare with a member that no longer decides.
        self._present, self._since, self._told = member, self._past.seen, False
        self._replays, self._lost = None, 0


def make_hyper(params: HyperParams, context: Context, rehearsal: Rehearsal) -> Hyper:
    """Return `hyper`; `rehearsal` replays the past for it."""
    members = [
        Member(choice, label_of(choice), context.make("dispatcher", choice))
        for choice in params.portfolio
    ]
    labels = [member.label for member in members]
    first = if_inexact = first_of(labels, FIRST)
    if params.first is not None:
        first = if_inexact = params.first - 1
    elif isinstance(context.objective, Slowdown | BoundedSlowdown):
        first = first_of(labels, SHORT_JOBS_FIRST)
    objective = context.objective
    return Hyper(members, rehearsal, objective, params, first=first, if_inexact=if_inexact)
