"""Dispatching rounds decided by the core, for dispatchers called from Python."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hpcsched._core import NEVER, Rule, WaitReason
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.decision_reasons import Reason, ReasonKind
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.carried_reservations import CarriedState
from hpcsched.dispatching.rules.core_calls import CoreCalls, starts_of
from hpcsched.dispatching.rules.orders import QueueOrder, sorted_queue
from hpcsched.dispatching.rules.problem_state import ProblemState

_KINDS: dict[int, ReasonKind] = {
    WaitReason.NO_ROOM: "no_room",
    WaitReason.RESERVED_FOR: "reserved_for",
    WaitReason.BEHIND: "behind",
    WaitReason.BEYOND_DEPTH: "beyond_depth",
    WaitReason.SHORT_OF_SHARED: "no_room",
    WaitReason.BEYOND_QUEUE_DEPTH: "beyond_depth",
}


class CoreRounds:
    """Rounds of one rule and allocator, decided by the core."""

    def __init__(
        self,
        rule: Rule,
        allocator: Allocator,
        *,
        carried: CarriedState | None = None,
        **options: Any,
    ) -> None:
        self.rule = rule
        self.options: Mapping[str, Any] = options
        self._carried = carried
        self._core = CoreCalls(rule, allocator, **options)

    def decide(
        self,
        problem: DispatchingProblem,
        order: QueueOrder,
        behind: QueueOrder | None = None,
    ) -> Decision:
        """Decide a round, with reasons if the problem requests them.

        Parameters
        ----------
        behind
            Order of the jobs behind the head job; None: the same order.
        """
        if not problem.queue:
            return NOTHING
        free = _free_slots(problem)
        goes_on = problem.explain or self._carried is not None
        # Most rounds of a full system start nothing, and end here without filling the state.
        if not goes_on and not any(job.units <= free for job in problem.queue):
            return NOTHING
        queue = sorted_queue(order, problem)
        # Reasons are due to every job, so nothing is left out where they are requested.
        if not problem.explain:
            queue = self._relevant(queue, free)
        in_turn = None if behind is None else _those_of(queue, sorted_queue(behind, problem))
        filled = self._core.fill(problem, queue, in_turn)
        if self._carried is not None:
            self._carried.write(filled, problem, queue)
        self._core.decide(problem, queue, explains=problem.explain)
        if self._carried is not None:
            self._carried.read(filled, problem, queue)
        reasons: tuple[Reason, ...] = ()
        if problem.explain:
            reports_promises = self.rule in (Rule.CONSERVATIVE, Rule.SLACK)
            reasons = _reasons(queue, filled, self.rule, reports_promises=reports_promises)
        again = filled.state.call_again
        return Decision(
            starts_of(queue, filled),
            reasons=reasons,
            call_again_at=None if again == NEVER else again,
        )

    def _relevant(self, queue: Sequence[WaitingJob], free: int) -> Sequence[WaitingJob]:
        """Return the jobs that can influence the starts of this round, in order.

        `free` is a number of units that no start can exceed. A job behind the first one that has to
        wait matters only if it fits, unless it gets a reservation; after the last job that fits, no
        reservation can matter.
        """
        # Every job keeps a reservation under these rules, whether it fits or not.
        if self.rule in (Rule.CONSERVATIVE, Rule.SLACK, Rule.SLURM_BACKFILL):
            return queue
        if self.rule == Rule.BACKFILL:
            last = len(queue)
            # The caller has made sure that one of the jobs fits, so the loop ends.
            while queue[last - 1].units > free:
                last -= 1
            return queue[:last]
        for place, job in enumerate(queue, start=1):
            if job.units > free:
                return [*queue[:place], *[job for job in queue[place:] if job.units <= free]]
        return queue


def _free_slots(problem: DispatchingProblem) -> int:
    """Return the number of free slots; where slots are not counted, a number above any request."""
    if problem.free_slots is None:
        return NEVER
    return sum([high - low for low, high in problem.free_slots])


def _those_of(some: Sequence[WaitingJob], jobs: Sequence[WaitingJob]) -> Sequence[WaitingJob]:
    """Return those of `jobs` that are among `some`."""
    numbers = {job.job_id for job in some}
    return [job for job in jobs if job.job_id in numbers]


def _reasons(
    order: Sequence[WaitingJob], filled: ProblemState, rule: Rule, *, reports_promises: bool
) -> tuple[Reason, ...]:
    """Return the reasons of a round, in the order in which jobs were considered.

    With `reports_promises`, reasons state promises that could not be kept.
    """
    head: int | None = None
    reasons = []
    rows = np.arange(len(order))
    names = "waits", "why", "other", "when", "promise"
    noted = [filled.state.jobs(name, rows).tolist() for name in names]
    for job, waits, why, other, time, promise in zip(order, *noted, strict=True):
        if waits:
            name, details = None, []
            if why == WaitReason.SHORT_OF_SHARED:
                details.append(f"shared resource {filled.system.shared_resources[other].name}")
            elif why == WaitReason.BEYOND_QUEUE_DEPTH:
                details.append("default_queue_depth")
            elif other != -1:
                name = order[other].job_id
            if reports_promises and time > promise:
                details.append(f"at first promised for {promise} s")
            planned = None if time in (-1, NEVER) else time
            reasons.append(Reason(job.job_id, _KINDS[why], name, planned, "; ".join(details)))
            if head is None:
                head = job.job_id
        else:
            # Under Slurm, jobs behind one that waits may be started in order.
            if rule == Rule.SLURM_BACKFILL:
                head = None if other == -1 else order[other].job_id
            reasons.append(Reason(job.job_id, "in_order" if head is None else "backfilled", head))
    return tuple(reasons)
