"""Checks a decision against the problem that it answers, as the engine does before it applies it.

The problem's own account of what is free is what allocations are claimed from.
"""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.simulation.check import check_allocation
from hpcsched.system.space import NodeSpace, OvercommitError, SlotSpace


def check_decision(problem: DispatchingProblem, decision: object) -> list[WaitingJob]:
    """Return the jobs that a decision starts; raise ValueError if it cannot be carried out."""
    if not isinstance(decision, Decision) or not isinstance(decision.starts, tuple):
        raise ValueError(f"expected a decision with a tuple of starts, found {decision!r}")
    slot_map = problem.slot_map
    space: SlotSpace | NodeSpace = (
        NodeSpace(problem.system, problem.free_amounts)
        if slot_map is None
        else SlotSpace(slot_map, problem.free_slots)
    )
    waiting = {job.job_id: job for job in problem.queue}
    started = []
    for start in decision.starts:
        try:
            job_id, allocation = start
        except (TypeError, ValueError):
            raise ValueError(f"expected starts in the decision, found {start!r}") from None
        job = _leave(waiting, job_id)
        try:
            space.claim(check_allocation(problem.system, allocation, job.job, slot_map), job.job)
        except OvercommitError as error:
            node = problem.system.node_name(error.node)
            raise ValueError(f"job {job_id}, node {node}: {error}") from None
        except ValueError as error:
            raise ValueError(f"job {job_id}: {error}") from None
        started.append(job)
    for job_id in decision.rejected:
        _leave(waiting, job_id)
    return started


def _leave(waiting: dict[int, WaitingJob], job_id: int) -> WaitingJob:
    job = waiting.pop(job_id, None)
    if job is None:
        raise ValueError(f"job {job_id} is not waiting, or was decided on twice")
    return job
