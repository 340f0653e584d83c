"""The nodes, partitions and scheduler of a site, from the entries of Slurm's files.

Source: the manual pages `slurm.conf` and `scontrol` of SchedMD.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hpcsched.errors import Finding, InputError, Place
from hpcsched.system.host_lists import expand
from hpcsched.workload.readers.quantities import parse_count
from hpcsched_slurm.site.entries import NOT_REPLAYED, Entry
from hpcsched_slurm.site.preemption_text import KEYS, of_partition
from hpcsched_slurm.syntax.gres import (
    EXAMPLE,
    Gres,
    license_resource,
    parse_licenses,
    read_gres,
    renamed,
)
from hpcsched_slurm.syntax.values import NOT_GIVEN, parse_time_limit

_DEFAULT = "default"
_EVERYWHERE = "all"
_NOT_THERE = "future"
_LIMITS = {
    "allowaccounts": "AllowAccounts",
    "allowgroups": "AllowGroups",
    "allowqos": "AllowQos",
    "denyaccounts": "DenyAccounts",
    "denyqos": "DenyQos",
    "exclusive": "Exclusive",
    "exclusiveuser": "ExclusiveUser",
    "maxcpuspernode": "MaxCPUsPerNode",
    "maxmempercpu": "MaxMemPerCPU",
    "maxmempernode": "MaxMemPerNode",
    "oversubscribe": "OverSubscribe",
    "rootonly": "RootOnly",
    "state": "State",
    "tresbillingweights": "TRESBillingWeights",
}
"""Limits of partitions that scenarios do not have, with their spelling."""
_NO_LIMIT = NOT_GIVEN | {"all", "unlimited", "infinite", "no", "up", "0"}
_AS_REPLAYED = NOT_GIVEN | {
    *("preempt/none", "off", "sched/backfill", "select/cons_tres", "select/cons_res", "no", "0"),
    *(
        "cr_core_memory",
        "cr_cpu_memory",
        "topology/default",
        "topology/flat",
        "topology/none",
        "infinite",
        "00:00:00",
    ),
}
"""Values of further settings that a scenario need not state."""
ENFORCED = "accountingstorageenforce"
"""Key of the kinds of limits that hold."""
_NODES = {"maxnodes": "MaxTRESPerJob", "minnodes": "MinTRESPerJob"}
"""Limits of partitions on the nodes of a job, as those of a QOS are called."""
_DEFAULTS = frozenset({("minnodes", "1")})


@dataclass(frozen=True, slots=True)
class SlurmNode:
    """A node: CPUs and MiB of memory for jobs, and its devices, in order of their names."""

    name: str
    cpus: int
    memory: int
    gres: tuple[Gres, ...] = ()
    features: frozenset[str] = frozenset()
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class SlurmPartition:
    """A partition of a site.

    Attributes
    ----------
    max_time
        Longest time limit in seconds; None for any.
    priority
        Its job factor; None if not stated.
    not_declared
        Limits that a scenario cannot declare, as Slurm writes them: `OverSubscribe=FORCE`.
    qos
        QOS whose limits hold in it.
    limits
        Its own limits, by the names of `sacctmgr`.
    preemption
        Keys of a scenario on its tier and on preemption.
    """

    name: str
    nodes: frozenset[str]
    max_time: int | None = None
    priority: int | None = None
    not_declared: tuple[str, ...] = ()
    place: Place | None = None
    qos: str | None = None
    limits: Mapping[str, str] = field(default_factory=dict)
    preemption: tuple[str, ...] = ()


@dataclass(slots=True)
class SlurmSite:
    """Nodes and partitions, in the order of the file, and settings of scheduler and priorities.

    Attributes
    ----------
    left_out
        Names of nodes that are absent or not understood.
    scheduler
        Parameters of the scheduler by name; those without a value have an empty one.
    licenses
        Number of each licence, by name.
    priority
        Settings of the priority plugin by key in lower case.
    settings
        Further settings that have an effect on starts, likewise.
    places
        Places of settings of scheduler and priorities, by key in lower case.
    """

    nodes: dict[str, SlurmNode] = field(default_factory=dict)
    left_out: set[str] = field(default_factory=set)
    partitions: dict[str, SlurmPartition] = field(default_factory=dict)
    scheduler: dict[str, str] = field(default_factory=dict)
    licenses: dict[str, int] = field(default_factory=dict)
    priority: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    warnings: list[Finding] = field(default_factory=list)


def read_site(entries: Sequence[Entry]) -> SlurmSite:
    """Return the site of some entries; parts that are not understood are left out with a warning.

    Raises
    ------
    InputError
        If no node is left, with the lines.
    """
    site = SlurmSite()
    defaults: dict[str, dict[str, str]] = {"nodename": {}, "partitionname": {}}
    sets: dict[str, Entry] = {}
    said_by_nodes: dict[str, list[str]] = {}
    waiting: list[Entry] = []
    for entry in entries:
        if _add_setting(site, entry) or not _has_name(site, entry):
            continue
        if entry.kind == "nodeset":
            sets[entry.name] = entry
        elif entry.name.lower() == _DEFAULT:
            # A later DEFAULT adds to those before it.
            defaults[entry.kind].update(entry.pairs)
        else:
            # Slurm applies the defaults that stand above a line, hence not those that come later.
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
        errors = [replace(one, severity="error") for one in site.warnings]
        raise InputError(errors) if errors else entries[0].fault("expected nodes that are there")
    place = Place(entries[0].place.file)
    site.warnings += _names_changed(site.nodes.values(), place)
    return site


def _add_setting(site: SlurmSite, entry: Entry) -> bool:
    """Add an entry about the scheduler, licences or priorities; return whether it is one."""
    if entry.kind == "schedulerparameters":
        parameters = (one.partition("=") for one in entry.name.split(",") if one)
        site.scheduler = {name.lower(): value for name, _, value in parameters}
    elif entry.kind in {"licenses", "licensename"}:
        _add_licenses(site, entry)
    elif entry.kind.startswith("priority"):
        site.priority.update(entry.pairs)
    elif entry.kind in NOT_REPLAYED:
        site.settings.update(entry.pairs)
        if entry.kind not in (ENFORCED, *KEYS) and entry.name.lower() not in _AS_REPLAYED:
            told = f"not in the scenario: {NOT_REPLAYED[entry.kind]}={entry.name}"
            site.warnings.append(Finding("bad-entry", told, entry.place, severity="warning"))
    else:
        return False
    site.places.update(dict.fromkeys(entry.pairs, entry.place))
    return True


def _has_name(site: SlurmSite, entry: Entry) -> bool:
    """Return whether an entry names something, with a warning about text that is no pair."""
    if not entry.name:
        expected = f"expected a line that begins with {entry.kind}=NAME"
        site.warnings.append(entry.warning(f"left out: {expected}, found {entry.rest!r}"))
    elif entry.rest:
        told = f"expected KEY=VALUE, found {entry.rest!r}, which is left out"
        site.warnings.append(entry.warning(told))
    return bool(entry.name)


def _names_changed(nodes: Iterable[SlurmNode], place: Place) -> list[Finding]:
    names = [one.name for node in nodes for one in node.gres]
    return [Finding("renamed", told, place, severity="warning") for told in renamed(names)]


def _add_nodes(site: SlurmSite, entry: Entry, said_by_nodes: dict[str, list[str]]) -> None:
    try:
        names = expand(entry.name)
        if not names:
            raise ValueError("expected the names of nodes, found none")
    except ValueError as error:
        site.warnings.append(entry.warning(f"left out: {error}"))
        return
    if entry.pairs.get("state", "").lower().startswith(_NOT_THERE):
        site.left_out.update(names)
        site.warnings.append(entry.warning(f"left out: State={entry.pairs['state']}"))
        return
    try:
        cpus, memory = usable_cpus(entry.pairs), usable_memory(entry.pairs)
    except ValueError as error:
        site.left_out.update(names)
        site.warnings.append(entry.warning(f"left out: {error}"))
        return
    gres = _gres(site, entry)
    features = entry.pairs.get("features") or entry.pairs.get("feature", "")
    told = frozenset(filter(None, features.split(",")))
    for name in names:
        if name in site.nodes:
            site.warnings.append(entry.warning(f"the node {name} was described before"))
            continue
        site.nodes[name] = SlurmNode(name, cpus, memory, gres, told, entry.place)
        for partition in filter(None, entry.pairs.get("partitions", "").split(",")):
            said_by_nodes.setdefault(partition, []).append(name)


def _add_licenses(site: SlurmSite, entry: Entry) -> None:
    try:
        found = (
            parse_licenses(entry.name)
            if entry.kind == "licenses"
            else {entry.name: parse_count(entry.pairs.get("total", ""), entry.name)}
        )
    except ValueError as error:
        site.warnings.append(entry.warning(f"left out: {error}"))
        return
    for name, count in found.items():
        if site.licenses.get(name) == count:  # both in the configuration and in its state
            continue
        # Names may differ only in what a shared resource's name cannot have.
        if license_resource(name) in map(license_resource, site.licenses):
            site.warnings.append(entry.warning(f"left out: {name} was described before"))
        elif count:
            site.licenses[name] = count


def usable_cpus(pairs: Mapping[str, str]) -> int:
    """Return the CPUs of a node that jobs can use: hardware threads where a core has several.

    Raises
    ------
    ValueError
        If a number is none, or no CPU is left for jobs.
    """

    def number(key: str, default: int) -> int:
        return parse_count(pairs[key], key) if key in pairs else default

    # Slurm has subtracted reserved cores already; doing it again would count them twice.
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


def usable_memory(pairs: Mapping[str, str]) -> int:
    """Return the MiB of memory of a node that jobs can use; 0 if not stated.

    Raises
    ------
    ValueError
        If a number is none, or more is reserved for the system than there is.
    """
    whole = parse_count(pairs.get("realmemory", "0"), "MiB of RealMemory")
    left = whole - parse_count(pairs.get("memspeclimit", "0"), "MiB of MemSpecLimit")
    if left < 0:
        raise ValueError("expected more RealMemory than MemSpecLimit")
    return left


def _gres(site: SlurmSite, entry: Entry) -> tuple[Gres, ...]:
    """Return the devices that jobs use up, with warnings about others."""
    resources, not_understood = read_gres(entry.pairs.get("gres", ""))
    for item in not_understood:
        message = f"left out: expected a generic resource such as {EXAMPLE}, found {item!r}"
        site.warnings.append(entry.warning(message))
    # Sorted: nodes that list the same devices in another order belong to one group.
    return tuple(sorted(one for one in resources if one.consumed and one.amount))


def _add_partition(
    site: SlurmSite, entry: Entry, sets: Mapping[str, Entry], said: dict[str, list[str]]
) -> None:
    if entry.name in site.partitions:
        site.warnings.append(entry.warning("left out: the partition was described before"))
        return
    try:
        nodes = _nodes_of(site, entry, entry.pairs.get("nodes", ""), sets)
        max_time = parse_time_limit(entry.pairs.get("maxtime", ""))
        factor = entry.pairs.get("priorityjobfactor", entry.pairs.get("priority"))
        priority = None if factor is None else parse_count(factor, "PriorityJobFactor")
    except ValueError as error:
        said.pop(entry.name, None)
        site.warnings.append(entry.warning(f"left out: {error}"))
        return
    nodes |= set(said.get(entry.name, ()))
    if nodes:
        site.partitions[entry.name] = SlurmPartition(
            *(entry.name, frozenset(nodes), max_time, priority),
            *(_not_declared(entry.pairs), entry.place, _given(entry.pairs, "qos")),
            {
                limit: f"node={entry.pairs[key]}"
                for key, limit in _NODES.items()
                if _given(entry.pairs, key)
            },
            tuple(of_partition(entry.pairs)),
        )
    else:
        said.pop(entry.name, None)
        site.warnings.append(entry.warning("left out: a partition without nodes runs no job"))


def _given(pairs: Mapping[str, str], key: str) -> str | None:
    """Return the value of a key that limits something; None for a default."""
    value = pairs.get(key, "")
    return None if value.lower() in _NO_LIMIT or (key, value) in _DEFAULTS else value


def _not_declared(pairs: Mapping[str, str]) -> tuple[str, ...]:
    """Return the limits of a partition that a scenario does not have."""
    return tuple(
        f"{written}={pairs[key]}" for key, written in _LIMITS.items() if _given(pairs, key)
    )


def part_of(site: SlurmSite, partitions: Collection[str]) -> SlurmSite:
    """Return the partitions with the given names, and their nodes.

    Raises
    ------
    ValueError
        If one of them has no nodes.
    """
    missing = [name for name in partitions if name not in site.partitions]
    if missing:
        raise ValueError(f"no node belongs to {', '.join(missing)}")
    chosen = {name: one for name, one in site.partitions.items() if name in partitions}
    inside = {name for partition in chosen.values() for name in partition.nodes}
    nodes = {name: node for name, node in site.nodes.items() if name in inside}
    return replace(site, nodes=nodes, partitions=chosen)


def _nodes_of(site: SlurmSite, entry: Entry, text: str, sets: Mapping[str, Entry]) -> set[str]:
    """Return the nodes of a list of nodes and node sets, with warnings about unknown ones."""
    if text.lower() == _EVERYWHERE:
        return set(site.nodes)
    found: set[str] = set()
    for name in expand(text):
        if name in site.nodes:
            found.add(name)
        elif name in sets:
            found |= _nodes_of_set(site, sets[name], sets)
        elif name not in site.left_out:
            site.warnings.append(entry.warning(f"left out: there is no node {name}"))
    return found


def _nodes_of_set(site: SlurmSite, entry: Entry, sets: Mapping[str, Entry]) -> set[str]:
    """Return the nodes of a `NodeSet`: those it lists, and those with its feature."""
    listed = entry.pairs.get("nodes", "")
    if listed and any(name in sets for name in expand(listed)):
        raise ValueError(f"the node set {entry.name} names another one")
    feature = entry.pairs.get("feature")
    having = {node.name for node in site.nodes.values() if feature in node.features}
    return having | _nodes_of(site, entry, listed, {})
