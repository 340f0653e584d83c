"""The blocks of a scenario for a site that Slurm describes: system, partitions, dispatcher."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from hpcsched.errors import Finding, InputError, Place
from hpcsched.plugins.manager import registry
from hpcsched.scenario.document import parse_document
from hpcsched.scenario.faults import faults_of
from hpcsched.scenario.system import (
    PartitionDeclaration,
    SystemDeclaration,
    partition_clashes,
    unknown_groups,
)
from hpcsched.system.mig import MEMORY_SLICES, MIG_PROFILES
from hpcsched_slurm.site.limits_text import limits_text
from hpcsched_slurm.site.preemption_text import preempt_line
from hpcsched_slurm.site.site import SlurmNode, SlurmPartition, SlurmSite
from hpcsched_slurm.site.slurm_settings import dispatcher_block
from hpcsched_slurm.site.yaml_text import duration, one_line, origin, scalar
from hpcsched_slurm.syntax.gres import (
    SHARED,
    Gres,
    license_resource,
    mig_profile,
    resource_type,
    totals,
)
from hpcsched_slurm.syntax.host_names import fold

_LONGEST = 90
_LONGEST_NAME = 80


class _Group(NamedTuple):
    """Identical nodes in the same partitions."""

    name: str
    nodes: tuple[SlurmNode, ...]
    sharing: "_Sharing"

    @property
    def resources(self) -> dict[str, int | str]:
        """Amounts of each node, as a scenario states them."""
        node = self.nodes[0]
        offered: dict[str, int | str] = {"core": node.cpus}
        if node.memory:
            offered["mem"] = f"{node.memory}MiB"
        return offered | self.sharing.declared(node.gres)


class _Sharing(NamedTuple):
    """How GPUs of a site are divided.

    Attributes
    ----------
    shares
        Shares of a GPU that `shard` or `mps` stand for; None without, or if nodes differ.
    model
        Model of GPUs with MIG slices; empty without, or if nodes differ.
    """

    shares: int | None = None
    model: str = ""

    @classmethod
    def of(cls, nodes: Iterable[SlurmNode]) -> "_Sharing":
        """Return how the GPUs of these nodes are divided."""
        shares, models = set[int](), set[str]()
        for node in nodes:
            counts = totals(node.gres)
            for amount in filter(None, (counts[name] for name in SHARED)):
                whole, rest = divmod(amount, counts["gpu"] or amount + 1)
                shares.add(0 if rest else whole)
            if fits := _sliced(node.gres):
                models.add(min(fits, key=lambda model: fits[model]))
        if models:
            return cls(model=models.pop() if len(models) == 1 else "")
        return cls(shares.pop() or None if len(shares) == 1 else None)

    def declared(self, gres: Sequence[Gres]) -> dict[str, int | str]:
        """Return the generic resources of a node, as a scenario states them."""
        counts: dict[str, int | str] = dict(totals(gres))
        count = _sliced(gres).get(self.model, counts.get("gpu", 0))
        if "gpu" not in counts or not (self.shares or self.model):
            return counts
        how = f", shares: {self.shares}" if self.shares else ""
        if self.model in _sliced(gres):
            how = f", profile: {self.model}"
        dropped = SHARED if self.shares else ()
        counts = {name: amount for name, amount in counts.items() if name not in dropped}
        return counts | {"gpu": f"{{count: {count}{how}}}"}


def _sliced(gres: Sequence[Gres]) -> dict[str, int]:
    """Return the number of GPUs that the MIG slices of a node take, by models that have such.

    Nothing if there are GPUs of other types, too.
    """
    gpus = [one for one in gres if resource_type(one.name) == "gpu"]
    found = {}
    for model, profiles in MIG_PROFILES.items():
        memory = {one.name: one.placements[0].bit_count() for one in profiles}
        names = [(mig_profile(one.type), one.amount) for one in gpus]
        if gpus and all(name in memory for name, _ in names):
            compute = sum(int(name[0]) * amount for name, amount in names)
            slices = sum(memory[name] * amount for name, amount in names)
            found[model] = max(-(-compute // 7), -(-slices // MEMORY_SLICES))
    return found


class Blocks(NamedTuple):
    """Blocks of a scenario as YAML, and the nodes of each group.

    Attributes
    ----------
    system
        The block `system`, after comments with the source and the parts that are left out.
    partitions
        The block `partitions`; empty without partitions.
    types
        Resource types of the system.
    """

    system: str
    partitions: str
    nodes: dict[str, str]
    types: frozenset[str]


def as_yaml(site: SlurmSite, path: Path) -> str:
    """Return the blocks of a site as YAML: those of `write_blocks`, and the dispatcher if known."""
    blocks = write_blocks(site, path, devices=True)
    dispatcher = dispatcher_block(site.scheduler, site.priority, site.places)
    preempt = preempt_line(site.settings, site.scheduler, {}, site.places)
    return blocks.system + blocks.partitions + preempt + dispatcher


def write_blocks(
    site: SlurmSite, source: Path, qos: Collection[str] = (), *, devices: bool = False
) -> Blocks:
    """Return the blocks `system` and `partitions` of a site.

    Groups are identical nodes in the same partitions. Licences are shared resources. Comments name
    the parts of the source that are left out, and the limits of partitions that a scenario does not
    have.

    Parameters
    ----------
    qos
        Names of the QOS that the scenario has.
    devices
        Whether GPUs with shares (`shard`, `mps`) or with MIG slices alone are declared as devices.

    Raises
    ------
    InputError
        If the site makes no valid system.
    """
    groups = _groups(site, _Sharing.of(site.nodes.values()) if devices else _Sharing())
    system = "".join(_system_lines(site, groups, source))
    partitions = "".join(_partition_lines(site, groups, qos))
    _check(system + partitions, site, source)
    nodes = {group.name: fold([node.name for node in group.nodes]) for group in groups}
    types = frozenset(name for group in groups for name in group.resources)
    return Blocks(system, partitions, nodes, types)


def _groups(site: SlurmSite, sharing: _Sharing) -> list[_Group]:
    member_of: dict[str, list[str]] = {name: [] for name in site.nodes}
    for partition in site.partitions.values():
        for name in partition.nodes:
            member_of[name].append(partition.name)
    alike: dict[Any, list[SlurmNode]] = {}
    for node in site.nodes.values():
        key = node.cpus, node.memory, node.gres, tuple(member_of[node.name])
        alike.setdefault(key, []).append(node)
    names = _unique(_group_name(nodes) for nodes in alike.values())
    pairs = zip(names, alike.values(), strict=True)
    return [_Group(name, tuple(nodes), sharing) for name, nodes in pairs]


def _system_lines(site: SlurmSite, groups: Sequence[_Group], source: Path) -> Iterator[str]:
    yield f"# From {source.name}: {len(site.nodes)} nodes.\n"
    for warning in site.warnings:
        place = origin([warning.place])
        yield f"# {one_line(warning.message)}{f' ({place})' if place else ''}\n"
    yield "system:\n  groups:\n"
    for group in groups:
        resources = ", ".join(f"{name}: {value}" for name, value in group.resources.items())
        line = (
            f"    - {{name: {scalar(group.name)}, count: {len(group.nodes)},"
            f" resources: {{{resources}}}}}"
        )
        yield f"{line}  # {_comment(group)}\n"
    if site.licenses:
        yield "  shared_resources:\n"
    for name, number in site.licenses.items():
        # What a job draws is in its request.
        resource = f"name: {license_resource(name)}, capacity: {number}, draw: as_the_trace_says"
        yield f"    - {{{resource}}}  # {one_line(name)}\n"


def _partition_lines(
    site: SlurmSite, groups: Sequence[_Group], qos: Collection[str]
) -> Iterator[str]:
    if site.partitions:
        yield "partitions:\n"
    names = _unique(_valid(name) for name in site.partitions)
    preempts = site.settings.get("preempttype", "preempt/none") != "preempt/none"
    for name, partition in zip(names, site.partitions.values(), strict=True):
        comment = origin([partition.place])
        parts, without = list(_partition(name, partition, groups)), list(partition.not_declared)
        parts += [key for key in partition.preemption if preempts or key.startswith("tier")]
        limits = limits_text(partition.limits, ()).text
        if partition.qos in qos:
            parts.append(f"qos: {scalar(str(partition.qos))}")
            without += partition.limits.values()
        elif limits:
            parts.append(f"limits: {limits}")
        if partition.qos is not None and partition.qos not in qos:
            without.append(f"QoS={partition.qos}")
        if without:
            told = f"without {one_line(', '.join(without))}"
            comment = f"{comment}, {told}" if comment else told
        line = f"  - {{{', '.join(parts)}}}"
        yield f"{line}  # {comment}\n" if comment else f"{line}\n"


def _partition(name: str, partition: SlurmPartition, groups: Sequence[_Group]) -> Iterator[str]:
    yield f"name: {scalar(name)}"
    yield f"jobs: {{partition: [{scalar(partition.name)}]}}"
    inside = [group.name for group in groups if group.nodes[0].name in partition.nodes]
    # A partition with all nodes names none, so that it stays right when a group is added by hand.
    if len(inside) < len(groups):
        yield f"groups: [{', '.join(map(scalar, inside))}]"
    if partition.max_time is not None:
        yield f"max_time: {duration(partition.max_time)}"
    if partition.priority is not None:
        yield f"priority: {partition.priority}"


def _comment(group: _Group) -> str:
    gres = group.nodes[0].gres
    kinds = dict.fromkeys(f"{one.name}:{one.type}" for one in gres if one.type)
    hosts = fold([node.name for node in group.nodes])
    if len(hosts) > _LONGEST:
        hosts = f"{hosts[:_LONGEST]}…"
    place = origin(node.place for node in group.nodes)
    return ", ".join([hosts, *kinds, *([place] if place else [])])


def _group_name(nodes: Sequence[SlurmNode]) -> str:
    """Return the common beginning of the nodes' names, up to their numbers."""
    # Whatever begins both the first and the last by the alphabet begins all between them.
    first, last = min(node.name for node in nodes), max(node.name for node in nodes)
    alike = (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b)
    begin = first[: next(alike, len(first))]
    return _valid(re.sub(r"[-_.]*[0-9]*$", "", begin)[:_LONGEST_NAME])


def _valid(text: str) -> str:
    """Return a valid name, as near to the text as possible."""
    name = re.sub(r"[^A-Za-z0-9._-]", "-", text).lstrip("._-")[:_LONGEST_NAME]
    return name or "nodes"


def _unique(names: Iterable[str]) -> list[str]:
    taken: dict[str, None] = {}
    for name in names:
        others = (f"{name}-{n}" for n in count(2))
        taken[name if name not in taken else next(o for o in others if o not in taken)] = None
    return list(taken)


def _check(text: str, site: SlurmSite, path: Path) -> None:
    """Raise InputError where the blocks are not valid in a scenario."""
    # The text itself is checked, as it is what the user gets, quotes and indentation included.
    document = parse_document(text)
    value: Mapping[str, Any] = document.value
    declared = value.get("partitions", [])
    try:
        system = SystemDeclaration.model_validate(value["system"])
        partitions = TypeAdapter(tuple[PartitionDeclaration, ...]).validate_python(
            declared, strict=False
        )
    except ValidationError as error:
        said = [f"{fault.message}" for fault in faults_of(error, value, {})]
        raise _no_system("; ".join(said), path) from None
    groups = [group.name for group in system.groups]
    clashes = [*partition_clashes(partitions), *unknown_groups(partitions, groups)]
    if document.findings or clashes:
        raise _no_system("two parts of it have the same name", path)
    if system.build().node_count != len(site.nodes):
        raise _no_system("not every node is in a group", path)


def _no_system(why: str, path: Path) -> InputError:
    message = f"what it describes cannot be declared in a scenario: {why}"
    return InputError(Finding("bad-value", message, Place(str(path))))


def check_dispatcher(name: str, option: str) -> None:
    """Check that a dispatcher is installed.

    Raises
    ------
    InputError
        If no dispatcher has the name; the message has the nearest one.
    """
    try:
        registry().get("dispatcher", name)
    except KeyError as error:
        message = str(error.args[0])
        raise InputError(Finding("unknown-plugin", message, key=option)) from None
