"""From a decision to starts that a cluster can make: checked, and spread over nodes.

A dispatcher may put two units of a job on one node. A job that asked its cluster for several nodes
must have as many, so its units are moved apart, to further nodes with room if there are any.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from hpcsched.dispatching.decision import Decision, Start
from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.dispatching.reasons import Reason
from hpcsched.simulation.check import check_allocation, check_reasons
from hpcsched.system.allocation import Allocation, NodeAllocation
from hpcsched.system.space import NodeSpace, OvercommitError, units_that_fit
from hpcsched.system.system import IntArray


class Placed(NamedTuple):
    """The starts that can be made, and why others of the decision cannot be."""

    starts: tuple[Start, ...]
    postponed: tuple[Reason, ...]


class BadDecisionError(Exception):
    """A decision breaks a rule; the text says which, and of which job."""


def check_decision(problem: DispatchingProblem, decision: object) -> Decision:
    """Return a decision; raises BadDecisionError unless it can be carried out as it stands."""
    if not isinstance(decision, Decision) or not isinstance(decision.starts, tuple):
        raise BadDecisionError(f"expected a decision with a tuple of starts, found {decision!r}")
    queue = {job.job_id: job for job in problem.queue}
    space = NodeSpace(problem.system, problem.availability.T)
    for start in decision.starts:
        job = queue.pop(start.job_id, None)
        if job is None:
            raise BadDecisionError(f"job {start.job_id} does not wait, or is started twice")
        try:
            space.claim(check_allocation(problem.system, start.allocation, job.job, None), job.job)
        except OvercommitError as error:
            node = problem.system.node_name(error.node)
            raise BadDecisionError(f"job {start.job_id}, node {node}: {error}") from None
        except ValueError as error:
            raise BadDecisionError(f"job {start.job_id}: {error}") from None
    try:
        check_reasons(decision.reasons, problem.queue)
    except ValueError as error:
        raise BadDecisionError(str(error)) from None
    return decision


def place(
    problem: DispatchingProblem,
    decision: Decision,
    spread: Collection[int],
    overdue: Collection[int],
) -> Placed:
    """Return the starts of a checked decision, those of `spread` jobs on nodes of their own.

    Starts are gone through in the decision's order. One whose room was needed to spread another is
    moved to other nodes, or postponed where there are none. `overdue` are jobs that have been
    postponed for long: while one of them finds no room, no job that comes after it starts, so that
    it is not passed for ever.
    """
    queue = {job.job_id: job for job in problem.queue}
    space = NodeSpace(problem.system, problem.availability.T)
    starts: list[Start] = []
    postponed: list[Reason] = []
    barrier: int | None = None
    for start in decision.starts:
        job = queue[start.job_id]
        if barrier is not None:
            postponed.append(Reason(start.job_id, "behind", barrier))
            continue
        allocation = _allocation(space, start, job, spread=start.job_id in spread)
        if allocation is not None:
            space.claim(allocation, job.job)
            starts.append(Start(start.job_id, allocation))
            continue
        detail = f"needs {job.units} nodes with room" if job.units > 1 else "its room was needed"
        postponed.append(Reason(start.job_id, "limit", detail=detail))
        if start.job_id in overdue:
            barrier = start.job_id
    return Placed(tuple(starts), tuple(postponed))


def _allocation(
    space: NodeSpace, start: Start, job: WaitingJob, *, spread: bool
) -> Allocation | None:
    """Return where a job can start: as decided if that is still free, or elsewhere; or None."""
    decided = start.allocation
    fits = units_that_fit(space.system, space.available, job.job)
    as_decided = zip(decided.nodes, decided.units, strict=True)
    if all(units <= fits[node] and not (spread and units > 1) for node, units in as_decided):
        return decided
    if spread:
        fits = np.minimum(fits, 1)
    return _most_decided(decided.nodes, fits, job.units)


def _most_decided(decided: Sequence[int], fits: IntArray, units: int) -> NodeAllocation | None:
    """Return room for units, `fits` on each node, `[N]`, on the decided nodes first; or None."""
    others = [node for node in np.flatnonzero(fits).tolist() if node not in decided]
    chosen: dict[int, int] = {}
    left = units
    for node in [*decided, *others]:
        count = min(left, int(fits[node]))
        if count:
            chosen[node] = count
            left -= count
    nodes = tuple(sorted(chosen))
    return None if left else NodeAllocation(nodes, tuple(chosen[node] for node in nodes))


class Spreading:
    """A dispatcher whose decisions are changed as those about a cluster are, for simulations.

    Jobs of several units are taken to need a node for each; one that has been postponed for
    `patience` seconds is waited for.
    """

    def __init__(self, dispatcher: Dispatcher, patience: int) -> None:
        self._dispatcher = dispatcher
        self._patience = patience
        self._postponed: dict[int, int] = {}

    def dispatch(self, problem: DispatchingProblem) -> Decision:
        """Return the dispatcher's decision, with jobs of several units on as many nodes.

        Raises BadDecisionError where it breaks a rule.
        """
        decision = check_decision(problem, self._dispatcher.dispatch(problem))
        now, since = problem.now, self._postponed
        spread = {job.job_id for job in problem.queue if job.units > 1}
        overdue = {job_id for job_id, first in since.items() if now - first >= self._patience}
        placed = place(problem, decision, spread, overdue)
        put_off = {reason.job_id: reason for reason in placed.postponed}
        self._postponed = {job_id: since.get(job_id, now) for job_id in put_off}
        reasons = tuple([put_off.get(reason.job_id, reason) for reason in decision.reasons])
        return decision._replace(starts=placed.starts, reasons=reasons)
