"""Limits on the cores of a node that the jobs of a partition use together."""

from collections import Counter
from collections.abc import Collection, Mapping

from hpcsched.dispatching.decision import Reason, Start
from hpcsched.system.cluster import ClusterJob, ClusterState

_CORE = "core"
Used = Counter[tuple[str, str]]
"""Cores in use, by partition and node."""


def cores_in_use(state: ClusterState, starting: Collection[str]) -> Used:
    """Return the cores that jobs hold in partitions with a limit.

    Parameters
    ----------
    state
        The cluster.
    starting
        Keys of jobs that were told to start; they hold what they are going to.
    """
    used: Used = Counter()
    for job in state.jobs:
        if job.partition not in state.node_limits:
            continue
        placed: Mapping[str, Mapping[str, int]] = {}
        if job.phase == "running":
            placed = job.placed
        elif job.phase == "waiting" and job.key in starting and not job.held:
            placed = dict.fromkeys(job.wanted, job.amounts)
        for node, amounts in placed.items():
            used[job.partition, node] += amounts.get(_CORE, 0)
    return used


def within_node_limits(state: ClusterState, used: Used, starting: Collection[str]) -> ClusterState:
    """Return a state that limits waiting jobs to nodes with enough cores for their partition.

    A job without enough such nodes is blocked, with the limit as its reason.
    """
    if not state.node_limits:
        return state
    every = frozenset(node.name for node in state.nodes)

    def narrowed(job: ClusterJob) -> ClusterJob:
        most = state.node_limits.get(job.partition)
        if most is None or job.phase != "waiting" or (job.key in starting and not job.held):
            return job
        each = job.amounts.get(_CORE, 0)
        allowed = every if job.allowed is None else job.allowed
        left = frozenset(n for n in allowed if used[job.partition, n] + each <= most)
        if len(left) < job.units:
            return job._replace(phase="blocked", held=False, why=_words(job, most))
        return job if left == allowed else job._replace(allowed=left)

    return state._replace(jobs=tuple(map(narrowed, state.jobs)))


def together(
    starts: Collection[Start],
    jobs: Mapping[int, ClusterJob],
    names: tuple[str, ...],
    limits: Mapping[str, int],
    used: Used,
) -> tuple[tuple[Start, ...], tuple[Reason, ...]]:
    """Return the starts that keep to the limits together, and the reasons of the others.

    A dispatcher does not know of these limits. A start that is left out is decided again in the
    next round, which sees the nodes of the others.

    Parameters
    ----------
    starts
        Starts of a round, in order.
    jobs
        The cluster's jobs by number.
    names
        Names of the nodes by number.
    limits
        Maximum number of cores of a node, by partition.
    used
        Cores in use.
    """
    used = used.copy()
    kept: list[Start] = []
    told: list[Reason] = []
    for start in starts:
        job = jobs[start.job_id]
        most = limits.get(job.partition)
        nodes = zip(start.allocation.nodes, start.allocation.units, strict=True)
        taken = {
            (job.partition, names[node]): units * job.amounts.get(_CORE, 0) for node, units in nodes
        }
        if most is not None and any(used[key] + cores > most for key, cores in taken.items()):
            told.append(Reason(start.job_id, "limit", detail=_words(job, most)))
            continue
        used.update(taken)
        kept.append(start)
    return tuple(kept), tuple(told)


def _words(job: ClusterJob, most: int) -> str:
    return f"partition {job.partition}: its jobs may use {most} cores of a node"
