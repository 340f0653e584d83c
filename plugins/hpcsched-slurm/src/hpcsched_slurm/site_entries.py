"""Nodes, partitions and licences in the terms of `scontrol show`.

The reader of Slurm's files (`hpcsched_slurm.site`) takes these, so that a scenario is the same
from a file and from a running Slurm.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hpcsched import Place
from hpcsched_slurm.site.entries import Entry


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
    partitions
        Partitions as pairs of `scontrol show partitions`.
    licenses
        Licences with the keys of slurmrestd.
    source
        Name of the program that told of them, for messages.
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
