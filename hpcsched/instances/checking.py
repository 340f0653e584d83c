"""Checks a decision against the problem that it answers, as the engine does before it applies it.

The problem's own account of what is free is what allocations are claimed from.
"""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.simulation.check import check_allocation
from hpcsched.simulation.pool_accounts import OverdrawError, PoolAccounts
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
    pools = _pools(problem)
    waiting = {job.job_id: job for job in problem.queue}
    started = []
    for start in decision.starts:
        try:
            job_id, allocation = start
        except (TypeError, ValueError):
            raise ValueError(f"expected starts in the decision, found {start!r}") from None
        job = _leave(waiting, job_id)
        try:
            checked = check_allocation(problem.system, allocation, job.job, slot_map)
            if pools is not None:
                pools.check(problem.now, checked, job.job)
                pools.started(checked, job.job)
            space.claim(checked, job.job)
        except OverdrawError as error:
            raise ValueError(f"job {job_id}, {error}") from None
        except OvercommitError as error:
            node = problem.system.node_name(error.node)
            raise ValueError(f"job {job_id}, node {node}: {error}") from None
        except ValueError as error:
            raise ValueError(f"job {job_id}: {error}") from None
        started.append(job)
    for job_id in decision.rejected:
        _leave(waiting, job_id)
    return started


def _pools(problem: DispatchingProblem) -> PoolAccounts | None:
    """Return what running jobs draw from pools, if the system has any."""
    if not problem.system.pools:
        return None
    accounts = PoolAccounts(problem.system)
    for running in problem.running:
        accounts.started(running.allocation, running.waiting.job)
    return accounts


def _leave(waiting: dict[int, WaitingJob], job_id: int) -> WaitingJob:
    job = waiting.pop(job_id, None)
    if job is None:
        raise ValueError(f"job {job_id} is not waiting, or was decided on twice")
    return job
