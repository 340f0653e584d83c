"""Shared resources of a cluster, such as licences: present capacities, and draws of jobs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from hpcsched.dispatching.decision import Reason
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.cluster import ClusterJob
from hpcsched.system.space import most_draw
from hpcsched.system.system import System


def shared_requests(job: ClusterJob, system: System) -> tuple[tuple[str, int], ...]:
    """Return a job's draw from the shared resources that a system has."""
    names = {resource.name for resource in system.shared_resources}
    return tuple(sorted(pair for pair in job.shared.items() if pair[0] in names))


def with_shared(
    system: System, present: Mapping[str, int], elsewhere: Iterable[ClusterJob]
) -> System:
    """Return a system with the present capacities of its shared resources.

    Parameters
    ----------
    system
        The declared system.
    present
        Capacities according to the cluster; a resource that it does not list keeps its own.
    elsewhere
        Running jobs that hold none of the system's nodes: what they draw is not there.
    """
    drawn: dict[str, int] = {}
    for job in elsewhere:
        for name, amount in job.shared.items():
            drawn[name] = drawn.get(name, 0) + amount
    found = tuple(
        replace(
            one,
            capacity=max(0, present.get(one.name, one.capacity) - drawn.get(one.name, 0)),
            changes=() if one.name in present else one.changes,
        )
        for one in system.shared_resources
    )
    return system if found == system.shared_resources else replace(system, shared_resources=found)


def beyond_capacity(job: WaitingJob, system: System, told: list[Reason]) -> bool:
    """Return whether a job draws more than a shared resource offers now; add the reason if so.

    No dispatcher could plan such a job.
    """
    for one, amount in zip(system.shared_resources, most_draw(system, job.request), strict=True):
        if amount > one.capacity:
            detail = f"it asks for {amount} {one.name}, of which there are {one.capacity} now"
            told.append(Reason(job.job_id, "limit", detail=detail))
            return True
    return False
