"""Rounds as the core decides them, for dispatchers that are asked in Python."""

from collections.abc import Mapping, Sequence
from typing import Any

from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.problem_state import ProblemState
from hpcsched.dispatching.core.round_kernels import (
    decide_by_node,
    decide_by_slot,
    explain_by_node,
    explain_by_slot,
)
from hpcsched.dispatching.decision import NOTHING, Decision
from hpcsched.dispatching.decision_reasons import Reason, ReasonKind
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.rules.carried_reservations import CarriedState
from hpcsched.dispatching.rules.core_calls import CoreCalls, starts_of
from hpcsched.dispatching.rules.orders import QueueOrder

_KINDS: dict[int, ReasonKind] = {
    codes.NO_ROOM: "no_room",
    codes.RESERVED_FOR: "reserved_for",
    codes.BEHIND: "behind",
    codes.BEYOND_DEPTH: "beyond_depth",
    codes.SHORT_OF_POOL: "no_room",
}


class CoreRounds:
    """Asks the core about problems, by one rule and allocator.

    Parameters
    ----------
    rule
        One of the rules of `codes`.
    allocator
        Decides on which nodes jobs are placed.
    depth
        How many jobs get a reservation; all if None.
    own_backfill_order
        Whether the order behind the head job is another.
    carried
        What the rule keeps from round to round.
    choices
        Further fields of `Choices`, by name.
    """

    def __init__(
        self,
        rule: int,
        allocator: Allocator,
        *,
        depth: int | None = None,
        own_backfill_order: bool = False,
        carried: CarriedState | None = None,
        choices: Mapping[str, Any] | None = None,
    ) -> None:
        self._rule = rule
        self._carried = carried
        followed = {
            "rule": rule,
            "depth": -1 if depth is None else min(depth, codes.NEVER),
            "own_backfill_order": own_backfill_order,
        }
        self._core = CoreCalls(allocator, {**followed, **(choices or {})})

    def decide(
        self,
        problem: DispatchingProblem,
        order: QueueOrder,
        behind: QueueOrder | None = None,
    ) -> Decision:
        """Return the jobs to start now, with reasons where the problem asks for them.

        Jobs are considered in an order, those behind the head job in another where there is one.
        """
        if not problem.queue:
            return NOTHING
        free = _free_slots(problem)
        goes_on = problem.explain or self._carried is not None
        if not goes_on and not any(job.units <= free for job in problem.queue):
            return NOTHING
        queue = order.sort(problem)
        if not problem.explain:
            queue = self._what_matters(queue, free)
        in_turn = None if behind is None else _those_of(queue, behind.sort(problem))
        filled = self._core.fill(problem, queue, in_turn)
        if self._carried is not None:
            self._carried.write(filled, problem, queue)
        self._core.call(_KERNELS[filled.slot_map is None, problem.explain], problem, queue)
        if self._carried is not None:
            self._carried.read(filled, problem, queue)
        reasons: tuple[Reason, ...] = ()
        if problem.explain:
            tells = self._rule in (codes.CONSERVATIVE, codes.SLACK)
            reasons = _reasons(queue, filled, tells=tells)
        return Decision(starts_of(queue, filled), reasons=reasons)

    def _what_matters(self, queue: Sequence[WaitingJob], free: int) -> Sequence[WaitingJob]:
        """Return those of the jobs, in order, that can matter to what is started now.

        `free` is a number of units that no start can exceed. Whatever comes behind the first job
        that has to wait has to fit, if it has no reservation; after the last that fits there is
        nothing to reserve for.
        """
        if self._rule in (codes.CONSERVATIVE, codes.SLACK):
            return queue
        if self._rule == codes.BACKFILL:
            last = len(queue)
            while queue[last - 1].units > free:
                last -= 1
            return queue[:last]
        for place, job in enumerate(queue, start=1):
            if job.units > free:
                return [*queue[:place], *[job for job in queue[place:] if job.units <= free]]
        return queue


_KERNELS: dict[tuple[bool, bool], Any] = {
    (False, False): decide_by_slot,
    (False, True): explain_by_slot,
    (True, False): decide_by_node,
    (True, True): explain_by_node,
}
"""By whether units are placed node by node, and whether reasons are wanted."""


def _free_slots(problem: DispatchingProblem) -> int:
    """Return how many slots are free; where they are not counted, more than any job needs."""
    if problem.free_slots is None:
        return codes.NEVER
    return sum([high - low for low, high in problem.free_slots])


def _those_of(some: Sequence[WaitingJob], jobs: Sequence[WaitingJob]) -> Sequence[WaitingJob]:
    """Return the jobs that are among some."""
    numbers = {job.job_id for job in some}
    return [job for job in jobs if job.job_id in numbers]


def _reasons(
    order: Sequence[WaitingJob], filled: ProblemState, *, tells: bool
) -> tuple[Reason, ...]:
    """Return the reasons of a round, in the order in which jobs were considered.

    `tells` says that they tell of promises that could not be kept.
    """
    columns = [codes.WAITS, codes.WHY, codes.OTHER, codes.WHEN, codes.PROMISE]
    head: int | None = None
    reasons = []
    noted = filled.tables.jobs[: len(order), columns].tolist()
    for job, (waits, why, other, time, promise) in zip(order, noted, strict=True):
        if waits:
            name, details = None, []
            if why == codes.SHORT_OF_POOL:
                details.append(f"pool {filled.system.pools[other].name}")
            elif other != -1:
                name = order[other].job_id
            if tells and time > promise:
                details.append(f"at first promised for {promise} s")
            planned = None if time in (-1, codes.NEVER) else time
            reasons.append(Reason(job.job_id, _KINDS[why], name, planned, "; ".join(details)))
            if head is None:
                head = job.job_id
        else:
            reasons.append(Reason(job.job_id, "in_order" if head is None else "backfilled", head))
    return tuple(reasons)
