"""The dispatcher that tunes itself."""

from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.hyper.choosing import Comparison, better, together
from hpcsched.dispatching.hyper.params import HyperParams
from hpcsched.dispatching.hyper.past import Past, Window
from hpcsched.dispatching.hyper.rehearsal import Rehearsal
from hpcsched.dispatching.hyper.scores import score
from hpcsched.dispatching.objective import Objective
from hpcsched.dispatching.objectives import BoundedSlowdown, Slowdown
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob

NEW_SHARE = 8
"""The past is replayed anew when it has one new job for so many old ones."""

SHORT_ONES = 8
"""So many of the latest short windows are compared together."""

ENDS_JUDGED = 64
"""After so many ends it is known whether predictions are exact."""

EXACT_SHARE = 0.9
"""The share of exact predictions from which on they are taken to be."""

LEAST_COST = 1000
"""What a replay of fewer jobs counts as: it takes time to begin one."""


class Member:
    """One of the portfolio: its declaration, its name, and the dispatcher that decides."""

    def __init__(self, choice: Any, label: str, dispatcher: Dispatcher) -> None:
        self.choice = choice
        self.label = label
        self.dispatcher = dispatcher


class Portfolio(NamedTuple):
    """What is chosen from, and which member decides at first.

    `if_exact` is the member that takes over once predictions are found to be exact.
    """

    members: Sequence[Member]
    first: int
    if_exact: int


class Replays:
    """Replays of one window under some members, as far as a budget allows, one by one."""

    def __init__(self, window: Window, members: Sequence[int]) -> None:
        self.window = window
        self.left = list(members)
        self.scores: dict[int, float] = {}

    def comparison(self) -> Comparison:
        """Return what came of them."""
        members = sorted(self.scores)
        jobs = len(self.window.starts)
        return Comparison(jobs, members, [self.scores[member] for member in members])


class Hyper:
    """Replays the recent past under a portfolio, and has that decide which served best.

    The members that compiled code replays share long windows. Those that are asked in Python at
    each round of a replay share short ones, since that takes a hundred times longer; there is one
    when the short budget has been saved up. While such a member decides, it is not replayed in long
    windows: what it really came to is compared.
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
        usual = 0.2 if isinstance(objective, Slowdown | BoundedSlowdown) else 0.05
        self._hysteresis = usual if params.hysteresis is None else params.hysteresis
        self._present, self._since = portfolio.first, 0
        self._if_exact: int | None = portfolio.if_exact
        self._why = "it is the one to begin with"
        self._told = False
        self._past = Past(max(params.window, params.short_window))
        self._quick = [k for k, member in enumerate(self._members) if self._is_quick(member)]
        self._slow = [k for k in range(len(self._members)) if k not in self._quick]
        self._replays: Replays | None = None
        self._short: deque[Comparison] = deque(maxlen=SHORT_ONES)
        self._credit = self._short_credit = 0.0
        self._replayed_at = 0

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
        """Return what the present member of the portfolio decides."""
        self._past.see(problem)
        self._judge_predictions()
        if len(self._members) > 1:
            self._credit += self._params.budget
            self._short_credit += self._params.short_budget
            self._replay_long(problem.now)
            self._replay_short(problem.now)
        decision = self._members[self._present].dispatcher.dispatch(problem)
        if self._told:
            return decision
        self._told = True
        return decision._replace(chosen=self._members[self._present].label, because=self._why)

    def _judge_predictions(self) -> None:
        """Have the member for exact predictions decide, if they are found to be, once."""
        past, member = self._past, self._if_exact
        if member is None or past.ends < ENDS_JUDGED:
            return
        self._if_exact = None
        if past.exact >= EXACT_SHARE * past.ends and member != self._present:
            self._why = f"{past.exact} of {past.ends} predictions were exact"
            self._decide_from_now(member)

    def _replay_long(self, now: int) -> None:
        """Replay the long window under those of the members that compiled code replays."""
        seen, replays = self._past.seen, self._replays
        if replays is None:
            comparable = self._comparable()
            jobs = min(comparable, self._params.window)
            if (
                comparable < self._params.least_jobs
                or (seen - self._replayed_at) * NEW_SHARE < jobs
            ):
                return
            replays = self._replays = Replays(self._past.window(jobs, now), self._quick)
            if self._present not in self._quick:
                value = score(self._objective, replays.window, replays.window.starts)
                replays.scores[self._present] = value
        cost = max(len(replays.window.jobs), LEAST_COST)
        while replays.left and self._credit >= cost:
            self._credit -= cost
            self._rehearse(replays)
        if not replays.left:
            self._replays, self._replayed_at = None, seen
            self._credit = min(self._credit, cost)
            if self._present in replays.scores:
                self._move(replays.comparison(), self._params.window)

    def _comparable(self) -> int:
        """Return how many of the latest jobs may be compared."""
        jobs = self._past.seen
        if self._present not in self._quick:
            # What another member did says nothing of this one.
            jobs -= self._since
        return jobs

    def _replay_short(self, now: int) -> None:
        """Replay the short window under all members, and maybe move to one asked in Python."""
        jobs = min(self._past.seen, self._params.short_window)
        others = [member for member in self._slow if member != self._present]
        cost = max(jobs, LEAST_COST) * len(others)
        if not others or self._short_credit < cost or self._past.seen < self._params.least_jobs:
            return
        self._short_credit -= cost
        members = sorted({*others, *self._quick, self._present})
        replays = Replays(self._past.window(jobs, now), members)
        while replays.left:
            self._rehearse(replays)
        self._short.append(replays.comparison())
        # For the others the long window says more.
        self._move(together(self._short).of({*others, self._present}), self._params.window)

    def _rehearse(self, replays: Replays) -> None:
        """Replay a window under the next member."""
        member, window = replays.left.pop(0), replays.window
        starts = self._rehearsal.starts(self._members[member].choice, window.jobs)
        replays.scores[member] = score(self._objective, window, starts[window.first :])

    def _move(self, comparison: Comparison, window: int) -> None:
        """Move to the member that served best, if by enough."""
        to = better(comparison, self._present, self._hysteresis, window)
        if to is None:
            return
        before, after = comparison.score(self._present), comparison.score(to)
        self._why = (
            f"{_number(after)} against {_number(before)} of"
            f" {self._members[self._present].label} over {comparison.jobs} jobs"
        )
        self._decide_from_now(to)

    def _decide_from_now(self, member: int) -> None:
        """Have another member decide, and compare anew."""
        self._present, self._since, self._told = member, self._past.seen, False
        self._replays = None
        self._short.clear()


def _number(value: float) -> str:
    """Return a number with five digits."""
    return f"{np.round(value, 5):.5g}"
