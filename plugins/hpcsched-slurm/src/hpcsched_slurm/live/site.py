"""Declared part of a cluster: its nodes by number, and the origin of times."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from hpcsched.errors import Finding, InputError
from hpcsched.scenario.live import LiveSettings
from hpcsched.system.cluster import ClusterJob, ClusterNode
from hpcsched.system.host_lists import expand
from hpcsched.system.system import System

DAY = 86_400


@dataclass(frozen=True)
class Site:
    """A system with the names of its nodes on the cluster.

    Attributes
    ----------
    names
        Names of the nodes, `[N]`.
    origin
        Origin of times in problems and results, in seconds since 1970: a midnight (UTC), so that
        hours of the day are kept.
    """

    system: System
    names: tuple[str, ...]
    numbers: Mapping[str, int]
    partitions: frozenset[str]
    origin: int

    def has(self, job: ClusterJob) -> bool:
        """Return whether a job may run in one of the partitions."""
        return job.partition in self.partitions or not self.partitions.isdisjoint(job.partitions)

    def time(self, instant: float) -> int:
        """Return an instant of the cluster as seconds since the origin, rounded down."""
        return int(instant // 1) - self.origin


def site_of(system: System, live: LiveSettings, earliest: float) -> Site:
    """Return the declared site; `earliest` is the first instant that matters."""
    names = tuple(name for g in system.groups for name in expand(live.nodes[g.name]))
    numbers = {name: number for number, name in enumerate(names)}
    origin = int(earliest // DAY) * DAY
    return Site(system, names, numbers, frozenset(live.partitions), origin)


def check_site(site: Site, nodes: Iterable[ClusterNode], shared: Collection[str]) -> None:
    """Check that the cluster has the declared nodes, with at least the declared amounts.

    Nodes without resources are ones that the manager cannot describe; they are not compared. Of
    shared resources the names are compared: how much there is of them may change at any time.

    Raises
    ------
    InputError
        If it has not.
    """
    found: dict[str, ClusterNode] = {node.name: node for node in nodes}
    findings = []
    for number, name in enumerate(site.names):
        group = site.system.groups[int(site.system.group_of[number])]
        key = f"live.nodes.{group.name}"
        node = found.get(name)
        if node is None:
            findings.append(Finding("not-live", f"the cluster has no node {name}", key=key))
            continue
        if not node.resources:  # its answer is not understood, and nothing is placed on it
            continue
        less = [
            f"{node.resources.get(type_, 0)} {type_} instead of {amount}"
            for type_, amount in group.resources.items()
            if node.resources.get(type_, 0) < amount
        ]
        if less:
            message = f"the node {name} has less than is declared: {', '.join(less)}"
            findings.append(Finding("not-live", message, key=key))
    for resource in site.system.shared_resources:
        if resource.name not in shared:
            listed = ", ".join(sorted(shared)) or "none"
            message = f"the cluster has no shared resource {resource.name}; found: {listed}"
            findings.append(Finding("not-live", message, key="system.shared_resources"))
    if findings:
        raise InputError(findings)


def shares(amounts: Mapping[str, Any], system: System) -> dict[str, Any]:
    """Return the amounts of the resource types that the system has."""
    return {name: amount for name, amount in amounts.items() if name in system.resource_types}
