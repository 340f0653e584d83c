"""One live round: from the state of a cluster to a checked decision with reasons."""

from collections.abc import Mapping
from time import perf_counter
from typing import NamedTuple

from hpcsched.dispatching.decision import Reason, Start
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.simulation.records import RoundRecord
from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched_slurm.live.guarded_dispatcher import Answer, GuardedDispatcher
from hpcsched_slurm.live.node_limits import cores_in_use, together, within_node_limits
from hpcsched_slurm.live.snapshot import Asked, snapshot


class Round(NamedTuple):
    """Result of a round.

    Attributes
    ----------
    problem
        The dispatching problem.
    jobs
        The cluster's jobs of the queue, by number.
    starts
        Starts that can be carried out as they are.
    reasons
        Reason of each job to start or wait.
    trouble
        Reason why the answer is not the dispatcher's own; empty if it is.
    beyond
        Held jobs that only the cluster's own scheduler can place.
    again
        Whether starts were left out that the next round may decide otherwise.
    """

    problem: DispatchingProblem
    jobs: Mapping[int, ClusterJob]
    starts: tuple[Start, ...]
    reasons: tuple[Reason, ...]
    record: RoundRecord
    trouble: str
    beyond: tuple[ClusterJob, ...] = ()
    again: bool = False


def hold_round(
    state: ClusterState,
    asked: Asked,
    asking: GuardedDispatcher,
    *,
    now: int,
    number: int,
) -> Round:
    """Ask a dispatcher about a cluster, at `now` in seconds since the site's origin."""
    began = perf_counter()
    used = cores_in_use(state, asked.starting)
    within = within_node_limits(state, used, asked.starting)
    problem, jobs, left_out, beyond = snapshot(within, asked, now, number)
    answer = asking.ask(problem)
    starts, late = together(answer.decision.starts, jobs, asked.site.names, state.node_limits, used)
    told = {reason.job_id for reason in late}
    own = tuple(reason for reason in answer.decision.reasons if reason.job_id not in told)
    answer = answer._replace(decision=answer.decision._replace(starts=starts))
    reasons = (*own, *late, *left_out)
    record = _record(problem, answer, perf_counter() - began)
    return Round(problem, jobs, starts, reasons, record, answer.trouble, beyond, bool(late))


def _record(problem: DispatchingProblem, answer: Answer, seconds: float) -> RoundRecord:
    """Return the record of a round; decisions take no time of the cluster's."""
    starts = answer.decision.starts
    types = range(len(problem.system.resource_types))
    starting = {start.job_id for start in starts}
    free = problem.availability.sum(axis=0).tolist()
    waited = [0 for _ in types]
    for job in problem.queue:
        sign = -1 if job.job_id in starting else 0
        for r in types:
            amount = job.units * job.unit_request[r]
            free[r] += sign * amount
            waited[r] += 0 if sign else amount
    return RoundRecord(
        problem.round,
        problem.now,
        len(problem.queue),
        # Negative numbers stand in for nodes that are down; a job on unlike nodes has several
        # entries.
        len({job.job_id for job in problem.running if job.job_id >= 0}),
        len(starts),
        0,
        len(problem.queue) - len(starts),
        tuple(waited),
        tuple(max(0, amount) for amount in free),
        0,
        tuple(0 for _ in types),
        seconds,
        answer.decision.fallback,
        answer.decision.solver,
        answer.decision.chosen,
        answer.decision.because,
    )
