"""The nodes and partitions of a site, from the entries of Slurm's files.

Source: the manual pages `slurm.conf` and `scontrol` of SchedMD.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from hpcsched.scenario.slurm.entries import Entries, Entry
from hpcsched.scenario.slurm.host_lists import expand
from hpcsched.workload.batch.slurm_values import parse_count, parse_time_limit

_DEFAULT = "default"
_EVERYWHERE = "all"
_GRES = re.compile(
    r"(?P<name>[A-Za-z0-9_.-]+)(?::(?P<type>[A-Za-z_][^:()\s]*))?"
    r"(?::(?P<count>[0-9]{1,9})(?P<by>[KMGTkmgt]?))?(?:\([^)]*\))?"
)
_THOUSANDS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_NOT_THERE = "future"


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node: CPUs and MiB of memory for jobs, and counts of its devices, by name and type.

    A device without a type has an empty one.
    """

    name: str
    cpus: int
    memory: int
    gres: tuple[tuple[str, str, int], ...] = ()
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SlurmPartition:
    """A partition: its nodes by name, its longest time limit in seconds, and its job factor."""

    name: str
    nodes: frozenset[str]
    max_time: int | None = None
    priority: int | None = None


@dataclass(slots=True)
class SlurmSite:
    """Nodes and partitions, in the order in which they are described.

    `left_out` are the names of nodes that are described and not there.
    """

    nodes: dict[str, SlurmNode] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    partitions: dict[str, SlurmPartition] = field(default_factory=dict)


def read_site(entries: Entries) -> SlurmSite:
    """Return what entries describe; raises InputError, with the line, where they are at fault."""
    site = SlurmSite()
    defaults: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    sets: dict[str, Entry] = {}
    said_by_nodes: dict[str, list[str]] = {}
    waiting: list[Entry] = []
    for entry in entries.entries:
        if entry.kind == "nodeset":
            sets[entry.name] = entry
        elif entry.name.lower() == _DEFAULT:
            # A later DEFAULT adds to those before it.
            defaults[entry.kind].update(entry.pairs)
        else:
            whole = Entry(entry.kind, {**defaults[entry.kind], **entry.pairs}, entry.place)
            if entry.kind == "nodename":
                _add_nodes(site, whole, said_by_nodes)
            else:
                waiting.append(whole)
    for entry in waiting:  # which may name nodes that come after them
        _add_partition(site, entry, sets, said_by_nodes)
    for name, nodes in said_by_nodes.items():
        if name not in site.partitions:
            site.partitions[name] = SlurmPartition(name, frozenset(nodes))
    if not site.nodes:
        raise entries.entries[0].fault("expected nodes that are there, found none")
    return site


def _add_nodes(site: SlurmSite, entry: Entry, said_by_nodes: dict[str, list[str]]) -> None:
    if entry.pairs.get("state", "").lower().startswith(_NOT_THERE):
        site.left_out.update(_names(entry))
        return
    try:
        names = _names(entry)
        cpus, memory = _cpus(entry.pairs), _memory(entry.pairs)
        gres = _gres(entry.pairs.get("gres", ""))
    except ValueError as error:
        raise entry.fault(str(error)) from None
    features = entry.pairs.get("features") or entry.pairs.get("feature", "")
    told = frozenset(filter(None, features.split(",")))
    for name in names:
        if name in site.nodes:
            raise entry.fault(f"the node {name} was described before")
        site.nodes[name] = SlurmNode(name, cpus, memory, gres, told)
        for partition in filter(None, entry.pairs.get("partitions", "").split(",")):
            said_by_nodes.setdefault(partition, []).append(name)


def _names(entry: Entry) -> list[str]:
    try:
        return expand(entry.name)
    except ValueError as error:
        raise entry.fault(str(error)) from None


def _cpus(pairs: Mapping[str, str]) -> int:
    """Return the CPUs that jobs can use: hardware threads where a core has several."""

    def number(key: str, default: int) -> int:
        return parse_count(pairs[key], key) if key in pairs else default

    if "cpuefctv" in pairs:  # the state of a node: what is left for jobs
        return number("cpuefctv", 0)
    threads = number("threadspercore", 1)
    boards = number("boards", 1)
    sockets = number("sockets", boards * number("socketsperboard", 1))
    made_of = sockets * number("corespersocket", 1) * threads
    cpus = number("cputot", number("cpus", number("procs", made_of)))
    left = cpus - number("corespeccount", 0) * threads
    if left < 1:
        raise ValueError(f"expected CPUs for jobs, found {left}")
    return left


def _memory(pairs: Mapping[str, str]) -> int:
    """Return the MiB of memory that jobs can use; 0 where it is not said."""
    whole = parse_count(pairs.get("realmemory", "0"), "MiB of RealMemory")
    left = whole - parse_count(pairs.get("memspeclimit", "0"), "MiB of MemSpecLimit")
    if left < 0:
        raise ValueError("expected more RealMemory than MemSpecLimit")
    return left


def _gres(text: str) -> tuple[tuple[str, str, int], ...]:
    """Return counts of devices such as `gpu:a100:4`; what is not consumed is left out."""
    found: dict[tuple[str, str], int] = {}
    if text.lower() in {"", "(null)", "none", "n/a"}:
        return ()
    for item in re.split(r",(?![^(]*\))", text):  # commas in parentheses are of sockets
        if ":no_consume" in item.lower():
            continue
        match = _GRES.fullmatch(item)
        if match is None:
            raise ValueError(f"expected Gres such as gpu:a100:4, found {item!r}")
        kind = match["name"].lower(), match["type"] or ""
        count = int(match["count"] or 1) * _THOUSANDS[(match["by"] or "").upper()]
        found[kind] = found.get(kind, 0) + count
    return tuple((name, kind, count) for (name, kind), count in found.items() if count)


def _add_partition(
    site: SlurmSite, entry: Entry, sets: Mapping[str, Entry], said: dict[str, list[str]]
) -> None:
    if entry.name in site.partitions:
        raise entry.fault("the partition was described before")
    try:
        nodes = _nodes_of(site, entry.pairs.get("nodes", ""), sets)
        max_time = parse_time_limit(entry.pairs.get("maxtime", ""))
        factor = entry.pairs.get("priorityjobfactor", entry.pairs.get("priority"))
        priority = None if factor is None else parse_count(factor, "PriorityJobFactor")
    except ValueError as error:
        raise entry.fault(str(error)) from None
    nodes |= set(said.get(entry.name, ()))
    if nodes:
        site.partitions[entry.name] = SlurmPartition(
            entry.name, frozenset(nodes), max_time, priority
        )
    else:  # a partition that has no nodes yet runs no job
        said.pop(entry.name, None)


def _nodes_of(site: SlurmSite, text: str, sets: Mapping[str, Entry]) -> set[str]:
    if text.lower() == _EVERYWHERE:
        return set(site.nodes)
    found: set[str] = set()
    if text.lower() in {"", "(null)"}:
        return found
    for name in expand(text):
        if name in site.nodes:
            found.add(name)
        elif name in sets:
            found |= _nodes_of_set(site, sets[name], sets)
        elif name not in site.left_out:
            raise ValueError(f"there is no node {name}")
    return found


def _nodes_of_set(site: SlurmSite, entry: Entry, sets: Mapping[str, Entry]) -> set[str]:
    """Return the nodes of a `NodeSet`: those it lists, and those with its feature."""
    listed = entry.pairs.get("nodes", "")
    if listed and any(name in sets for name in expand(listed)):
        raise ValueError(f"the node set {entry.name} names another one")
    feature = entry.pairs.get("feature")
    having = {node.name for node in site.nodes.values() if feature in node.features}
    return having | _nodes_of(site, listed, {})
