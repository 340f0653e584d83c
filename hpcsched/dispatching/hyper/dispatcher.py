"""The dispatcher that tunes itself, and the protocol of its rehearsals, which replay the past."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from hpcsched.context import Context
from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.hyper.params import HyperParams, label_of
from hpcsched.dispatching.hyper.past import Past, PastJobs
from hpcsched.dispatching.hyper.scores import better, first_of, score
from hpcsched.dispatching.objectives import BoundedSlowdown, Slowdown
from hpcsched.dispatching.problem import DispatchingProblem, Objective, RunningJob
from hpcsched.system.system import IntArray
from hpcsched.workload.job_batches import JobColumns


class Rehearsal(Protocol):
    """Replays jobs on the scenario's system, empty at first, under a dispatcher made anew.

    The `requested_time` of each job stands for its predicted run time.
    """

    def is_compiled(self, choice: Any) -> bool:
        """Say whether a dispatcher is replayed in compiled code, without Python at each round."""

    def starts(self, choice: Any, jobs: JobColumns) -> IntArray:
        """Return when each job starts, `[J]`; jobs are in order of submission."""


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


class Member:
    """One of the portfolio: its declaration, its name, and the dispatcher that decides."""

    def __init__(self, choice: Any, label: str, dispatcher: Dispatcher) -> None:
        self.choice = choice
        self.label = label
        self.dispatcher = dispatcher


class Portfolio(NamedTuple):
    """The dispatchers to choose from, and the one that decides at first.

    `if_inexact` is the member that takes over once predictions are found not to be exact.
    """

    members: Sequence[Member]
    first: int
    if_inexact: int


class Replays:
    """Replays of the past under some members, as far as a budget allows, one by one.

    They are compared over the jobs from the one seen as `since` on.
    """

    def __init__(self, jobs: PastJobs, since: int, members: Sequence[int]) -> None:
        self.jobs, self.since = jobs, since
        self.left = list(members)
        self.scores: dict[int, float] = {}


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
        portfolio: Portfolio,
        rehearsal: Rehearsal,
        objective: Objective,
        params: HyperParams,
    ) -> None:
        self._members, self._rehearsal = portfolio.members, rehearsal
        self._objective, self._params = objective, params
        # Slowdowns vary most from job to job, so that differences by chance are largest.
        usual = 25 if isinstance(objective, Slowdown | BoundedSlowdown) else 4.5
        self._hysteresis = usual if params.hysteresis is None else params.hysteresis
        self._present, self._since = portfolio.first, 0
        self._if_inexact: int | None = portfolio.if_inexact
        self._why = "it is the one to begin with"
        self._told = False
        self._past = Past()
        self._quick = {k for k, member in enumerate(self._members) if self._is_quick(member)}
        self._replays: Replays | None = None
        self._lost = 0
        self._credit = 0.0
        self._next_at: float = params.least_jobs

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the members of the portfolio."""
        return tuple(member.label for member in self._members)

    def _is_quick(self, member: Member) -> bool:
        return self._rehearsal.is_compiled(member.choice)

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
        while replays.left and self._credit >= (cost := self._cost(replays.left[0], replays)):
            self._credit -= cost
            member = replays.left.pop(0)
            starts = self._rehearsal.starts(self._members[member].choice, replays.jobs.columns)
            self._score(member, starts, replays)
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
        replays = Replays(jobs, self._since if really else 0, members)
        if really:
            self._score(self._present, jobs.starts, replays)
        return replays

    def _cost(self, member: int, replays: Replays) -> int:
        """Return the value of a replay under a member."""
        jobs = len(replays.jobs)
        return max(jobs * (1 if member in self._quick else PYTHON_COST), LEAST_COST)

    def _score(self, member: int, starts: IntArray, replays: Replays) -> None:
        replays.scores[member] = score(self._objective, replays.jobs, starts, replays.since)

    def _move(self, replays: Replays) -> None:
        """Move to the member that served best, if by enough."""
        scores, present = replays.scores, self._present
        jobs = len(replays.jobs) - replays.since
        to = better(scores, present, self._hysteresis, jobs)
        self._lost = 0 if to is None else self._lost + 1
        if to is None or (present not in self._quick and self._lost < LOST_IN_A_ROW):
            return
        self._why = (
            f"{_number(scores[to])} against {_number(scores[present])} of"
            f" {self._members[present].label} over {jobs} jobs"
        )
        self._decide_from_now(to)

    def _decide_from_now(self, member: int) -> None:
        """Have another member decide, and compare anew."""
        # Replays in progress compare with a member that no longer decides.
        self._present, self._since, self._told = member, self._past.seen, False
        self._replays, self._lost = None, 0


def _number(value: float) -> str:
    """Return a number with five digits."""
    return f"{np.round(value, 5):.5g}"


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
    return Hyper(Portfolio(members, first, if_inexact), rehearsal, context.objective, params)
