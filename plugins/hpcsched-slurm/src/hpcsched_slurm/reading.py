"""Cluster of the nodes and jobs that Slurm lists as JSON.

The objects are those of slurmrestd v0.0.38 and of `squeue --json` and `sinfo --json` in Slurm
22.05, which are alike; `versions` gives those of later versions the same form.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hpcsched.system.cluster import ClusterJob, ClusterState
from hpcsched_slurm.job_rules import NO_CLUSTER_RULES, Rules, node_limits
from hpcsched_slurm.reading_jobs import RUNNING, JobReader, Terms
from hpcsched_slurm.reading_nodes import read_nodes
from hpcsched_slurm.reservations import NO_RESERVATIONS, Reservations


def cluster_of(
    jobs: Iterable[Mapping[str, Any]],
    nodes: Iterable[Mapping[str, Any]],
    terms: Terms,
    now: float,
    reservations: Reservations = NO_RESERVATIONS,
    *,
    rules: Rules = NO_CLUSTER_RULES,
) -> ClusterState:
    """Return the cluster; its warnings name nodes and jobs that are not understood.

    Parameters
    ----------
    jobs
        All jobs.
    nodes
        All nodes.
    terms
        How to read jobs.
    now
        The present instant, in seconds since 1970.
    reservations
        Reservations of nodes.
    rules
        Limits and licences.

    Raises
    ------
    ValueError
        If no node is understood.
    """
    found_nodes = read_nodes(nodes, reservations.outages, now)
    reader = JobReader(found_nodes.known, terms, now, rules)
    found: list[ClusterJob] = []
    running_tasks: dict[int, int] = {}
    for job in jobs:
        array = job.get("array_job_id")
        if array and isinstance(array, int) and str(job.get("job_state")) in RUNNING:
            running_tasks[array] = running_tasks.get(array, 0) + 1
        found += reader.read(job)
    within = tuple(_within_limits(found, reader.most_tasks, running_tasks))
    told = (
        f"jobs such as {key} are not understood, and left to Slurm: {fault}"
        for fault, key in reader.faults.items()
    )
    warnings = (*found_nodes.warnings, *reservations.warnings, *rules.warnings, *told)
    return ClusterState(
        found_nodes.cluster,
        within,
        warnings,
        reservations.outages,
        rules.licenses.present,
        node_limits(rules),
    )


def _within_limits(
    jobs: Iterable[ClusterJob], most: Mapping[int, int], running: Mapping[int, int]
) -> Iterator[ClusterJob]:
    """Yield jobs, those tasks blocked that an array's own limit does not let run now."""
    room = {array: limit - running.get(array, 0) for array, limit in most.items()}
    listed = list(jobs)
    waiting = [
        job for job in listed if job.phase == "waiting" and "_" in job.key and _array(job) in room
    ]
    # Tasks that were released to nodes are next, wherever they are listed.
    waiting.sort(key=lambda job: job.held or not job.wanted)
    over: set[str] = set()
    for job in waiting:
        room[_array(job)] -= 1
        if room[_array(job)] < 0:
            over.add(job.key)
    for job in listed:
        if job.key in over:
            yield job._replace(phase="blocked", held=False, why="JobArrayTaskLimit")
        else:
            yield job


def _array(job: ClusterJob) -> int:
    return int(job.key.partition("_")[0])
