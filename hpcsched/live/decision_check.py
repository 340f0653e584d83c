"""Whether a decision can be carried out on a cluster as it stands."""

from hpcsched.dispatching.decision import Decision
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.simulation.check import check_allocation, check_reasons
from hpcsched.system.space import NodeSpace, OvercommitError


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
