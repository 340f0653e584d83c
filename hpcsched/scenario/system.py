"""The blocks `system` and `partitions`: declarations, and the objects built from them."""

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails

from hpcsched.parameters import Amount, Duration, Listed, Params, PositiveAmount, PositiveDuration
from hpcsched.scenario.faults import equal_names, refusal, refuse_all, unknown_names
from hpcsched.scenario.key_path import KeyPath
from hpcsched.scenario.policy_declarations import LimitsDeclaration, Queue
from hpcsched.system.mig import MIG_PROFILES, MIG_SHARES
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import Devices, NodeGroup, System
from hpcsched.workload.preemption import PreemptMode
from hpcsched.workload.site_partitions import Criterion, Partition, Partitions

_LONGEST = 100
_NAME = "[A-Za-z0-9][A-Za-z0-9._-]*"
_RESOURCE_TYPE = "[a-z][a-z0-9_]*"
RESOURCE_TYPE_PATTERN = f"^{_RESOURCE_TYPE}$"
"""Pattern of the names of resource types for JSON Schema, which has one for a mapping's keys."""


def _matching(pattern: str, expected: str) -> AfterValidator:
    def check(text: str) -> str:
        if not re.fullmatch(pattern, text) or len(text) > _LONGEST:
            raise ValueError(f"expected {expected}, found {text!r}")
        return text

    return AfterValidator(check)


Name = Annotated[
    str,
    _matching(
        _NAME,
        f"a name of at most {_LONGEST} letters, digits, '.', '_' and '-' that starts with a letter"
        " or digit",
    ),
    Field(json_schema_extra={"pattern": f"^{_NAME}$", "maxLength": _LONGEST}),
]
"""A name that can be a folder's on every system."""

ResourceType = Annotated[
    str,
    _matching(
        _RESOURCE_TYPE,
        "a resource type such as core, mem or gpu: lower-case letters, digits and '_', starting"
        " with a letter",
    ),
]
"""The name of a resource type."""


class DrawDeclaration(Params):
    """Amount that a job draws from a shared resource while it runs: the sum of these."""

    per: dict[ResourceType, Amount] = Field(
        default_factory=dict,
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}},
    )
    """Amount drawn for each requested unit of a resource type, by resource type, in the system's
    units."""
    per_node: Amount = 0
    """Amount drawn by each node with at least one running job."""
    per_job: Amount = 0
    """Amount drawn by each job, independent of its request."""

    def build(self) -> Draw:
        """Return the model that is declared."""
        return Draw(self.per, self.per_node, self.per_job)


class ChangeDeclaration(Params):
    """Capacity of a shared resource from an instant on."""

    at: Duration
    """Seconds, or with a unit (12h), since the trace's origin, or since the beginning of the
    period."""
    capacity: Amount
    """Capacity from then on."""


class SharedResourceDeclaration(Params):
    """A shared resource: a power cap, licences, space on a burst buffer."""

    name: ResourceType = Field(json_schema_extra={"pattern": RESOURCE_TYPE_PATTERN})
    """Name of the shared resource; it differs from all resource types."""
    capacity: Amount
    """Capacity until the first change, as a number or in bytes."""
    draw: DrawDeclaration | Literal["as_the_trace_says"]
    """Amount that a job draws while it runs: the sum of these terms, or `as_the_trace_says` (0 if
    the trace does not)."""
    changes: Annotated[tuple[ChangeDeclaration, ...], Listed] = ()
    """Changes of the capacity, in order of time; dispatchers know them in advance."""
    every: PositiveDuration | None = None
    """Period of the changes, in seconds or with a unit (1d), counted from the trace's origin; once
    if not given."""

    def build(self) -> SharedResource:
        """Return the shared resource that is declared."""
        draw = Draw(traced=True) if isinstance(self.draw, str) else self.draw.build()
        changes = tuple(Change(change.at, change.capacity) for change in self.changes)
        return SharedResource(self.name, self.capacity, draw, changes, self.every)


def _shared_resource_faults(
    shared: Sequence[SharedResourceDeclaration], types: Sequence[str]
) -> Iterator[InitErrorDetails]:
    """Yield the faults of the shared resources of a system with some resource types."""
    yield from equal_names("shared resources", [one.name for one in shared], ("shared_resources",))
    # All shared resources of a system share one period in the planners' tables: the longest.
    longest = max((one.every or 0 for one in shared), default=0)
    for n, one in enumerate(shared):
        for rule, at, message in _faults_of_one(one, types, longest):
            yield refusal(rule, message, at=("shared_resources", n, *at))


def _faults_of_one(
    resource: SharedResourceDeclaration, types: Sequence[str], longest: int
) -> Iterator[tuple[str, KeyPath, str]]:
    if resource.name in types:
        message = f"{resource.name} is a resource type of the nodes; expected a name of its own"
        yield "duplicate-name", ("name",), message
    if isinstance(resource.draw, DrawDeclaration):
        draw = resource.draw
        if not (draw.per_node or draw.per_job or any(draw.per.values())):
            yield "bad-value", ("draw",), "expected an amount that jobs draw, found none"
        for name in draw.per:
            if name not in types:
                message = f"no node group has {name}; there are: {', '.join(types)}"
                yield "unknown-resource-type", ("draw", "per", name), message
    for k, change in enumerate(resource.changes):
        if k and change.at <= resource.changes[k - 1].at:
            wanted = f"after {resource.changes[k - 1].at}, that of the change before"
        # Without a period the times count from the trace's origin and may be any.
        elif resource.every is not None and change.at >= resource.every:
            wanted = f"within the period of {resource.every} s"
        else:
            continue
        message = f"expected a time {wanted}, found {change.at}"
        yield "bad-value", ("changes", k, "at"), message
    if resource.every is not None and not resource.changes:
        yield "bad-value", ("every",), "'every' is for changes, and there are none"
    if resource.every is not None and longest % resource.every:
        wanted = f"expected a period that divides that of another shared resource, {longest} s"
        yield "bad-value", ("every",), f"{wanted}, found {resource.every} s"


_SHARES = 1000
_MOST_PARTS = 64  # those of a node are the bits of one number


class DevicesDeclaration(Params):
    """Devices of a node, such as GPUs, that are told apart."""

    count: int = Field(ge=1, le=62)
    """Number of devices of each node."""
    shares: int | None = Field(default=None, ge=1, le=2**20)
    """Number of equal shares of a device, 1000 if not given: with these, a unit may ask for 0.3 of
    one."""
    model: Annotated[str, Field(min_length=1)] | None = None
    """Model of the devices, by which a trace may ask for them."""
    profile: Literal["a100-40gb", "a100-80gb", "h100-80gb"] | None = None
    """Divide the devices into MIG slices of this model: a unit may ask for one, such as 1g.5gb."""


class GroupDeclaration(Params):
    """A group of identical nodes."""

    name: Name
    """Name of the group; the names of its nodes begin with it."""
    count: int = Field(ge=1, le=10_000_000)
    """Number of nodes."""
    resources: dict[ResourceType, Amount | DevicesDeclaration] = Field(
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}, "minProperties": 1}
    )
    """Capacity of each node by resource type, as a number, in bytes (16GiB), or as devices that are
    told apart."""

    @field_validator("resources")
    @classmethod
    def _offer_something(
        cls, resources: dict[str, int | DevicesDeclaration]
    ) -> dict[str, int | DevicesDeclaration]:
        if not any(resources.values()):
            raise ValueError("expected at least one resource type with more than 0, found none")
        return resources

    @property
    def amounts(self) -> dict[str, int]:
        """Capacity of each node by resource type."""
        return {
            name: one if isinstance(one, int) else one.count for name, one in self.resources.items()
        }

    @property
    def devices(self) -> dict[str, DevicesDeclaration]:
        """Devices of each node by resource type."""
        return {
            name: one for name, one in self.resources.items() if isinstance(one, DevicesDeclaration)
        }


class SystemDeclaration(Params):
    """The system on which jobs run: groups of identical nodes."""

    units: dict[ResourceType, PositiveAmount] = Field(
        default_factory=dict,
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}},
    )
    """Unit of a resource type, as a number or in bytes (1GiB): capacities are rounded down to
    multiples of it, requests up."""
    groups: Annotated[tuple[GroupDeclaration, ...], Listed] = Field(min_length=1)
    """The groups of nodes; nodes are numbered in this order."""
    shared_resources: Annotated[tuple[SharedResourceDeclaration, ...], Listed] = ()
    """Resources of the system as a whole, such as power or licences."""

    @field_validator("groups")
    @classmethod
    def _check_groups(cls, groups: tuple[GroupDeclaration, ...]) -> tuple[GroupDeclaration, ...]:
        refuse_all(equal_names("groups", [group.name for group in groups]))
        for resource_type in {name for group in groups for name in group.resources}:
            total = sum(group.count * group.amounts.get(resource_type, 0) for group in groups)
            # Totals are 64-bit integers in compiled code, which would overflow without a word.
            if total >= 2**63:
                raise ValueError(f"all nodes together have more than 2^63 - 1 of {resource_type}")
        return groups

    @model_validator(mode="after")
    def _check_units(self) -> Self:
        names = list(dict.fromkeys(name for group in self.groups for name in group.resources))
        refuse_all(self._unit_faults(names))
        refuse_all(self._device_faults())
        refuse_all(_shared_resource_faults(self.shared_resources, names))
        return self

    def _unit_faults(self, names: Sequence[str]) -> Iterator[InitErrorDetails]:
        for name, unit in self.units.items():
            # Rounded down to a unit, such a node would have none of the resource without anybody
            # noticing.
            small = [one.name for one in self.groups if 0 < one.amounts.get(name, 0) < unit]
            if name not in names:
                message = f"no node group has {name}; there are: {', '.join(names)}"
                yield refusal("unknown-resource-type", message, at=("units", name))
            elif small:
                message = f"a node of {small[0]} has less than one unit of {name}"
                yield refusal("bad-value", message, at=("units", name))

    def _devices(self) -> Devices | None:
        """Return the devices of the first group that has some, sliced if those of any group are."""
        found = [item for group in self.groups for item in group.devices.items()]
        profile = next((one.profile for _, one in found if one.profile), None)
        if not found:
            return None
        name, first = found[0]
        if profile is not None:
            return Devices(name, MIG_SHARES, MIG_PROFILES[profile])
        return Devices(name, first.shares or _SHARES)

    def _device_faults(self) -> Iterator[InitErrorDetails]:
        """Yield devices that differ in type or shares, or whose type is pooled elsewhere."""
        devices = self._devices()
        if devices is None:
            return
        first = devices.resource_type, devices.shares
        for n, group in enumerate(self.groups):
            for name, one in group.devices.items():
                message = ""
                if devices.profiles and one.shares is not None:
                    message = "expected no shares beside MIG slices; leave them out"
                elif devices.profiles and one.count * devices.parts > _MOST_PARTS:
                    most = _MOST_PARTS // devices.parts
                    message = f"expected at most {most} devices beside MIG slices"
                elif one.profile and MIG_PROFILES[one.profile] != devices.profiles:
                    message = "expected the MIG slices of the first group with such"
                elif name != first[0] or not (
                    devices.profiles or (one.shares or _SHARES) == first[1]
                ):
                    message = (
                        f"expected {first[0]} with {first[1]} shares, as in the first group with"
                        f" devices, found {name} with {one.shares or _SHARES}"
                    )
                if message:
                    yield refusal("bad-value", message, at=("groups", n, "resources", name))
        for n, group in enumerate(self.groups):
            if isinstance(pooled := group.resources.get(first[0], 0), int) and pooled:
                message = f"expected devices ({{count: …, shares: {first[1]}}}), as in other groups"
                yield refusal("bad-value", message, at=("groups", n, "resources", first[0]))
        if first[0] in self.units:
            message = f"{first[0]} is counted in shares of devices; expected no unit of it"
            yield refusal("bad-value", message, at=("units", first[0]))

    def build(self) -> System:
        """Return the system that is declared."""
        devices = self._devices()
        units: dict[str, int | Fraction] = dict(self.units)
        if devices is not None:
            units[devices.resource_type] = Fraction(1, devices.shares)
        return System(
            tuple(
                NodeGroup(
                    group.name,
                    group.count,
                    group.amounts,
                    next((one.model for one in group.devices.values()), None),
                    any(one.profile for one in group.devices.values()),
                )
                for group in self.groups
            ),
            units,
            tuple(resource.build() for resource in self.shared_resources),
            devices,
        )


class Includable:
    """Mark of the field of a system that may also name a system, for the JSON Schema."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        description = (
            "The name of a system in a folder `systems` beside the scenario, or of one that comes"
            " with hpcsched; or a path that ends in `.yaml`."
        )
        name = {"type": "string", "minLength": 1, "description": description}
        return {"anyOf": [name, handler(core_schema)]}


_CRITERIA: tuple[Criterion, ...] = ("partition", "queue", "group", "application")
_Number = Annotated[int, Field(ge=0)]
_Numbers = Annotated[tuple[_Number, ...], Listed]
_NumbersAndNames = Annotated[tuple[_Number | Annotated[str, Field(min_length=1)], ...], Listed]


class JobNumbers(Params):
    """Filter of the jobs of a partition, by numbers and names in the trace."""

    partition: _NumbersAndNames = ()
    """Numbers of partitions in the trace, or names where it has them."""
    queue: _NumbersAndNames = ()
    """Numbers of queues in the trace, or names where it has them."""
    group: _Numbers = ()
    """Numbers of groups of users in the trace."""
    application: _Numbers = ()
    """Numbers of applications in the trace."""

    @model_validator(mode="after")
    def _name_something(self) -> Self:
        if not any(getattr(self, criterion) for criterion in _CRITERIA):
            raise ValueError(
                "expected a number of a partition, queue, group or application, found none; leave"
                " out 'jobs' for a partition that takes what no other takes"
            )
        return self

    def by_criterion(self) -> dict[Criterion, frozenset[int | str]]:
        """Return the given numbers and names, by criterion."""
        return {what: frozenset(getattr(self, what)) for what in _CRITERIA if getattr(self, what)}


class PartitionDeclaration(Params):
    """A partition: its jobs, its nodes, and its limits."""

    name: Name
    """The partition's name."""
    jobs: JobNumbers | None = None
    """Jobs of the partition, by numbers or names in the trace: a job belongs to the first partition
    that matches. Without this key, all jobs that match no other partition."""
    groups: Annotated[tuple[str, ...], Listed] | None = Field(default=None, min_length=1)
    """Node groups that its jobs may use; all by default."""
    max_time: PositiveDuration | None = None
    """Maximum requested time: seconds, or with a unit; a job that requests more is refused at
    submission. No limit by default."""
    priority: int = Field(default=0, ge=0, le=2**31)
    """Priority in the order `multifactor`, in relation to the largest."""
    limits: LimitsDeclaration = Field(default_factory=LimitsDeclaration)
    """Limits of its jobs, which come before those of their QOS."""
    qos: Queue | None = None
    """QOS whose limits are those of its jobs, in place of `limits`."""
    tier: int = Field(default=1, ge=0, lt=2**16)
    """Tier (Slurm's PriorityTier): jobs of higher tiers are tried first, and may preempt others
    with 'preempt: {by: partition}'."""
    preempt_mode: PreemptMode | None = None
    """What preemption by partition does to its jobs; 'preempt.mode' by default."""
    grace: Duration | None = None
    """Time from the preemption of its jobs to their end: seconds, or with a unit; 'preempt.grace'
    by default."""

    @model_validator(mode="after")
    def _check_limits(self) -> Self:
        if self.qos is not None and self.limits.model_fields_set:
            raise ValueError("expected limits or a qos of a partition, found both")
        return self

    def build(self) -> Partition:
        """Return the partition that is declared."""
        return Partition(
            self.name,
            {} if self.jobs is None else self.jobs.by_criterion(),
            None if self.groups is None else frozenset(self.groups),
            self.max_time,
            self.priority,
            self.limits.build(),
            self.qos,
            self.tier,
        )


def build_partitions(declared: Sequence[PartitionDeclaration]) -> Partitions:
    """Return the partitions that are declared."""
    return Partitions(tuple(partition.build() for partition in declared))


def partition_clashes(declared: Sequence[PartitionDeclaration]) -> Iterator[InitErrorDetails]:
    """Yield clashes between partitions: equal names, and two without a filter."""
    yield from equal_names("partitions", [partition.name for partition in declared])
    rest = [(n, partition.name) for n, partition in enumerate(declared) if partition.jobs is None]
    # Every later one is compared with the first, so that each message names a pair.
    for n, name in rest[1:]:
        message = f"{name} and {rest[0][1]} both take what no other takes;"
        message += " 'jobs' is missing in one of them"
        yield refusal("bad-value", message, at=(n,))


def _without_clashes(
    declared: tuple[PartitionDeclaration, ...],
) -> tuple[PartitionDeclaration, ...]:
    refuse_all(partition_clashes(declared))
    return declared


DeclaredPartitions = Annotated[
    tuple[PartitionDeclaration, ...], Listed, AfterValidator(_without_clashes)
]


def unknown_groups(
    declared: Sequence[PartitionDeclaration], groups: Sequence[str]
) -> Iterator[InitErrorDetails]:
    """Yield the node groups that partitions name and that are not among those of the system."""
    for n, partition in enumerate(declared):
        at = ("partitions", n, "groups")
        yield from unknown_names("unknown-group", "node group", partition.groups or (), groups, at)
