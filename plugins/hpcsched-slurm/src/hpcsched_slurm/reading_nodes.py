"""Nodes of a cluster, as Slurm lists them in JSON.

A CPU is a hardware thread, as in the history and in files of Slurm.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from hpcsched import Place
from hpcsched.system.cluster import ClusterNode, ClusterOutage
from hpcsched_slurm.reservations import ONLY_RESERVED, expected_back
from hpcsched_slurm.site.entries import Entry
from hpcsched_slurm.site.site import usable_cpus, usable_memory
from hpcsched_slurm.syntax.gres import Gres, read_gres, renamed, totals
from hpcsched_slurm.syntax.host_names import fold
from hpcsched_slurm.versions import FAULT, FAULTS, fault_in_words, whole

MEBIBYTE = 2**20
_USABLE = frozenset({"idle", "mixed", "allocated"})
_CLOSED = frozenset(
    [
        "BLOCKED",
        "DRAIN",
        "DOWN",
        "FAIL",
        "NOT_RESPONDING",
        "INVALID_REG",
        *ONLY_RESERVED,
    ]
)
_SOON_BACK = frozenset({"POWERING_DOWN", "POWERING_UP", "REBOOT_ISSUED", "REBOOT_REQUESTED"})
"""Flags of nodes that come back by themselves.

Nodes that are powered down (`POWERED_DOWN`, in the cloud or not) are none of them: Slurm wakes
them up for a job that is placed there. Those that Slurm has planned for a job (`PLANNED`) and those
with a job that ends (`COMPLETING`) can be used.
"""
SOON = 300
"""Seconds in which such nodes are assumed to be back."""


class Node(NamedTuple):
    """Properties of a node that decide which jobs may use it.

    `not_understood` are parts of what Slurm says of its generic resources, which are left out.
    """

    name: str
    partitions: frozenset[str]
    features: frozenset[str]
    gres: tuple[Gres, ...]
    cpus: int
    threads: int
    memory: int
    not_understood: tuple[str, ...] = ()


class ReadNodes(NamedTuple):
    """Nodes of a cluster.

    Attributes
    ----------
    cluster
        All of them; those that are not understood have no resources and cannot be used.
    warnings
        Sentences about parts that are left out or renamed.
    """

    known: tuple[Node, ...]
    cluster: tuple[ClusterNode, ...]
    warnings: tuple[str, ...]


def read_nodes(
    nodes: Iterable[Mapping[str, Any]], outages: tuple[ClusterOutage, ...], now: float
) -> ReadNodes:
    """Return the nodes of a cluster; one that is not understood is named in a warning.

    Parameters
    ----------
    nodes
        Objects in the form of v0.0.38.
    now
        The present instant, in seconds since 1970.

    Raises
    ------
    ValueError
        If none is understood.
    """
    known: list[Node] = []
    cluster: list[ClusterNode] = []
    faults: dict[str, list[str]] = {}
    for node in nodes:
        try:
            if FAULT in node:
                raise ValueError(node[FAULT])
            own = node_of(node)
            cluster.append(_cluster_node(node, own, outages, now))
            known.append(own)
        except FAULTS as error:
            name, fault = str(node.get("name", "")), fault_in_words(error)
            faults.setdefault(fault, []).append(name)
            cluster.append(ClusterNode(name, {}, usable=False, why=f"not understood: {fault}"))
    told = [
        f"the answer on {fold(names)} is not understood ({fault}): no job is placed there"
        for fault, names in faults.items()
    ]
    if faults and not known:
        raise ValueError("; ".join(told))
    return ReadNodes(tuple(known), tuple(cluster), (*told, *warnings_of(known)))


def warnings_of(nodes: Iterable[Node]) -> tuple[str, ...]:
    """Return warnings about nodes: resources that are left out, or have another name here."""
    left_out: dict[str, list[str]] = {}
    names: dict[str, None] = {}
    for node in nodes:
        for item in node.not_understood:
            left_out.setdefault(item, []).append(node.name)
        names |= dict.fromkeys(one.name for one in node.gres if one.consumed)
    told = (
        f"the generic resource {item!r} of {fold(where)} is not understood, and left out"
        for item, where in left_out.items()
    )
    return (*told, *renamed(names))


def node_of(node: Mapping[str, Any]) -> Node:
    """Return the properties of a node that decide which jobs may use it."""
    for field in ("cpus", "real_memory"):
        whole(node, field)
    pairs = node_pairs(node)
    gres, not_understood = read_gres(str(node["gres"]))
    return Node(
        str(node["name"]),
        frozenset(node["partitions"]),
        frozenset(part for part in str(node["active_features"]).split(",") if part),
        gres,
        usable_cpus(pairs),
        max(1, whole(node, "threads")),
        usable_memory(pairs) * MEBIBYTE,
        not_understood,
    )


def resources_of(node: Node) -> dict[str, int]:
    """Return the resources of a node, as a scenario declares them."""
    return {"core": node.cpus, "mem": node.memory, **totals(node.gres)}


def _cluster_node(
    node: Mapping[str, Any], own: Node, outages: tuple[ClusterOutage, ...], now: float
) -> ClusterNode:
    state = str(node["state"]).lower()
    flags = [str(flag).upper() for flag in node["state_flags"]]
    closed = [flag for flag in flags if flag in _CLOSED]
    soon = [flag for flag in flags if flag in _SOON_BACK]
    if state in _USABLE and not closed and not soon:
        return ClusterNode(own.name, resources_of(own))
    why = " ".join([state, *closed, *soon, str(node["reason"] or "")]).strip()
    found = ClusterNode(own.name, resources_of(own), usable=False, why=why)
    if state not in _USABLE:
        return found
    if not closed:
        return found._replace(back=int(now) + SOON)
    return found if soon else expected_back(found, closed, outages, now)


def entries_of(
    nodes: Iterable[Mapping[str, Any]],
    partitions: Iterable[Mapping[str, str]],
    licenses: Iterable[Mapping[str, Any]],
    source: str,
) -> list[Entry]:
    """Return entries about nodes, partitions and licences, in the forms that are read.

    Parameters
    ----------
    nodes
        Nodes in the form of v0.0.38.
    """
    place = Place(source)
    found = []
    for node in nodes:
        pairs = node_pairs(node)
        try:
            pairs |= {
                "partitions": ",".join(node["partitions"]),
                "state": " ".join([str(node["state"]), *map(str, node["state_flags"])]),
            }
        except (KeyError, TypeError) as error:
            # A number that is none has the node left out, by name.
            pairs["cpuefctv"] = f"{type(error).__name__}: {error}"
        found.append(Entry("nodename", pairs, place))
    found += [Entry("partitionname", dict(pairs), place) for pairs in partitions]
    for one in licenses:
        pairs = {"licensename": str(one.get("LicenseName")), "total": str(one.get("Total"))}
        found.append(Entry("licensename", pairs, place))
    return found


def node_pairs(node: Mapping[str, Any]) -> dict[str, str]:
    """Return the name, the CPUs, the memory and the devices of a node as pairs."""
    told = {
        "nodename": node.get("name", ""),
        # Only versions after Slurm 22.05 say how many CPUs are left for jobs.
        "cpuefctv": node.get("effective_cpus", node.get("cpus")),
        "realmemory": node.get("real_memory"),
        "memspeclimit": node.get("specialized_memory") or 0,
        "gres": node.get("gres") or "",
    }
    return {key: str(value) for key, value in told.items()}
