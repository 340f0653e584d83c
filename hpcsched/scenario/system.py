"""The block `system`: its declaration, and the system that follows from it."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails

from hpcsched.parameters import Amount, Duration, Listed, Params, PositiveAmount, PositiveDuration
from hpcsched.scenario.faults import refusal, refuse_all
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_RESOURCE_TYPE = re.compile(r"[a-z][a-z0-9_]*")
_LONGEST = 100


def _check_name(text: str) -> str:
    if not _NAME.fullmatch(text) or len(text) > _LONGEST:
        raise ValueError(
            f"expected a name of at most {_LONGEST} letters, digits, '.', '_' and '-' that starts"
            f" with a letter or digit, found {text!r}"
        )
    return text


def _check_resource_type(text: str) -> str:
    if not _RESOURCE_TYPE.fullmatch(text):
        raise ValueError(
            "expected a resource type such as core, mem or gpu: lower-case letters, digits and '_',"
            f" starting with a letter; found {text!r}"
        )
    return text


Name = Annotated[
    str,
    AfterValidator(_check_name),
    Field(json_schema_extra={"pattern": f"^{_NAME.pattern}$", "maxLength": _LONGEST}),
]
"""A name that can be a folder's on every system."""

ResourceType = Annotated[str, AfterValidator(_check_resource_type)]
"""The name of a resource type."""

RESOURCE_TYPE_PATTERN = f"^{_RESOURCE_TYPE.pattern}$"
"""The same for JSON Schema, which has patterns for the keys of a mapping."""


class DrawDeclaration(Params):
    """Amount that a job draws from a shared resource while it runs: the sum of these."""

    per: dict[ResourceType, Amount] = Field(
        default_factory=dict,
        description="Amount drawn for each requested unit of a resource type, by resource type, in"
        " the system's units.",
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}},
    )
    per_node: Amount = Field(
        default=0, description="Amount drawn by each node with at least one running job."
    )
    per_job: Amount = Field(
        default=0, description="Amount drawn by each job, independent of its request."
    )

    def build(self) -> Draw:
        """Return the model that is declared."""
        return Draw(self.per, self.per_node, self.per_job)


class ChangeDeclaration(Params):
    """Capacity of a shared resource from an instant on."""

    at: Duration = Field(
        description="Seconds, or with a unit (12h), since the trace's origin, or since the"
        " beginning of the period."
    )
    capacity: Amount = Field(description="Capacity from then on.")


class SharedResourceDeclaration(Params):
    """A shared resource: a power cap, licences, space on a burst buffer."""

    name: ResourceType = Field(
        description="Name of the shared resource; it differs from all resource types.",
        json_schema_extra={"pattern": RESOURCE_TYPE_PATTERN},
    )
    capacity: Amount = Field(
        description="Capacity until the first change, as a number or in bytes."
    )
    draw: DrawDeclaration | Literal["as_the_trace_says"] = Field(
        description="Amount that a job draws while it runs: the sum of these terms, or"
        " `as_the_trace_says` (0 if the trace does not)."
    )
    changes: Annotated[tuple[ChangeDeclaration, ...], Listed] = Field(
        default=(),
        description="Changes of the capacity, in order of time; dispatchers know them in advance.",
    )
    every: PositiveDuration | None = Field(
        default=None,
        description="Period of the changes, in seconds or with a unit (1d), counted from the"
        " trace's origin; once if not given.",
    )

    def build(self) -> SharedResource:
        """Return the shared resource that is declared."""
        draw = Draw(traced=True) if isinstance(self.draw, str) else self.draw.build()
        changes = tuple(Change(change.at, change.capacity) for change in self.changes)
        return SharedResource(self.name, self.capacity, draw, changes, self.every)


def shared_resource_faults(
    shared_resources: Sequence[SharedResourceDeclaration], resource_types: Sequence[str]
) -> Iterator[InitErrorDetails]:
    """Yield the faults of the shared resources of a system, at key paths within the system."""
    seen: set[str] = set()
    for n, resource in enumerate(shared_resources):
        here = ("shared_resources", n)
        if resource.name in resource_types:
            message = f"{resource.name} is a resource type of the nodes; expected a name of its own"
            yield refusal("duplicate-name", message, resource.name, at=(*here, "name"))
        elif resource.name in seen:
            message = f"two shared resources are called {resource.name!r}"
            yield refusal("duplicate-name", message, resource.name, at=(*here, "name"))
        seen.add(resource.name)
        if not isinstance(resource.draw, str):
            yield from _draw_faults(resource.draw, resource_types, (*here, "draw"))
        yield from _change_faults(resource, here)
    yield from _period_faults(shared_resources)


def _draw_faults(
    draw: DrawDeclaration, resource_types: Sequence[str], here: tuple[str | int, ...]
) -> Iterator[InitErrorDetails]:
    if not (draw.per_node or draw.per_job or any(draw.per.values())):
        message = "expected an amount that jobs draw, found none"
        yield refusal("bad-value", message, draw, at=here)
    for name, amount in draw.per.items():
        if name not in resource_types:
            message = f"no node group has {name}; there are: {', '.join(resource_types)}"
            yield refusal("unknown-resource-type", message, amount, at=(*here, "per", name))


def _change_faults(
    resource: SharedResourceDeclaration, here: tuple[str | int, ...]
) -> Iterator[InitErrorDetails]:
    for k, (before, change) in enumerate(pairwise(resource.changes), 1):
        if change.at <= before.at:
            message = f"expected a time after {before.at}, that of the change before,"
            message += f" found {change.at}"
            yield refusal("bad-value", message, change.at, at=(*here, "changes", k, "at"))
    # Without a period the times count from the trace's origin and may be any.
    if resource.every is None:
        return
    if not resource.changes:
        message = "'every' is for changes, and there are none"
        yield refusal("bad-value", message, resource.every, at=(*here, "every"))
    for k, change in enumerate(resource.changes):
        if change.at >= resource.every:
            message = f"expected a time within the period of {resource.every} s, found {change.at}"
            yield refusal("bad-value", message, change.at, at=(*here, "changes", k, "at"))


def _period_faults(
    shared_resources: Sequence[SharedResourceDeclaration],
) -> Iterator[InitErrorDetails]:
    """Yield the periods that do not divide the longest."""
    # All shared resources of a system share one period in the planners' tables: the longest.
    longest = max((resource.every or 0 for resource in shared_resources), default=0)
    for n, resource in enumerate(shared_resources):
        if resource.every is not None and longest % resource.every:
            message = (
                f"expected a period that divides that of another shared resource, {longest} s,"
            )
            message += f" found {resource.every} s"
            yield refusal("bad-value", message, resource.every, at=("shared_resources", n, "every"))


_LARGEST_COUNT = 10_000_000
_LARGEST_TOTAL = 2**63 - 1


class GroupDeclaration(Params):
    """A group of identical nodes."""

    name: Name = Field(description="Name of the group; the names of its nodes begin with it.")
    count: int = Field(ge=1, le=_LARGEST_COUNT, description="Number of nodes.")
    resources: dict[ResourceType, Amount] = Field(
        description="Capacity of each node by resource type, as a number or in bytes (16GiB).",
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}, "minProperties": 1},
    )

    @field_validator("resources")
    @classmethod
    def _offer_something(cls, resources: dict[str, int]) -> dict[str, int]:
        if not any(resources.values()):
            raise ValueError("expected at least one resource type with more than 0, found none")
        return resources


class SystemDeclaration(Params):
    """The system on which jobs run: groups of identical nodes."""

    units: dict[ResourceType, PositiveAmount] = Field(
        default_factory=dict,
        description="Unit of a resource type, as a number or in bytes (1GiB): capacities are"
        " rounded down to multiples of it, requests up.",
        json_schema_extra={"propertyNames": {"pattern": RESOURCE_TYPE_PATTERN}},
    )
    groups: Annotated[tuple[GroupDeclaration, ...], Listed] = Field(
        min_length=1, description="The groups of nodes; nodes are numbered in this order."
    )
    shared_resources: Annotated[tuple[SharedResourceDeclaration, ...], Listed] = Field(
        default=(), description="Resources of the system as a whole, such as power or licences."
    )

    @field_validator("groups")
    @classmethod
    def _check_groups(cls, groups: tuple[GroupDeclaration, ...]) -> tuple[GroupDeclaration, ...]:
        names = [group.name for group in groups]
        refuse_all(
            refusal("duplicate-name", f"two groups are called {name!r}", name, at=(n, "name"))
            for n, name in enumerate(names)
            if name in names[:n]
        )
        for resource_type in {name for group in groups for name in group.resources}:
            total = sum(group.count * group.resources.get(resource_type, 0) for group in groups)
            # Totals are 64-bit integers in compiled code, which would overflow without a word.
            if total > _LARGEST_TOTAL:
                raise ValueError(f"all nodes together have more than 2^63 - 1 of {resource_type}")
        return groups

    @model_validator(mode="after")
    def _check_units(self) -> Self:
        names = dict.fromkeys(name for group in self.groups for name in group.resources)
        # The first alone: one unit that is too large is so for many groups.
        refuse_all(islice(self._unit_faults(list(names)), 1))
        refuse_all(shared_resource_faults(self.shared_resources, list(names)))
        return self

    def _unit_faults(self, names: Sequence[str]) -> Iterator[InitErrorDetails]:
        for name, unit in self.units.items():
            if name not in names:
                message = f"no node group has {name}; there are: {', '.join(names)}"
                yield refusal("unknown-resource-type", message, unit, at=("units", name))
            for group in self.groups:
                # Rounded down to a unit, such a node would have none of the resource without
                # anybody noticing.
                if 0 < group.resources.get(name, 0) < unit:
                    message = f"a node of {group.name} has less than one unit of {name}"
                    yield refusal("bad-value", message, unit, at=("units", name))

    def build(self) -> System:
        """Return the system that is declared."""
        return System(
            tuple(NodeGroup(group.name, group.count, group.resources) for group in self.groups),
            self.units,
            tuple(resource.build() for resource in self.shared_resources),
        )


_INCLUDE = (
    "The name of a system in a folder `systems` beside the scenario, or of one that comes with"
    " hpcsched; or a path that ends in `.yaml`."
)


class Includable:
    """Mark of the field of a system that may also name a system, for the JSON Schema."""

    def __get_pydantic_json_schema__(
        self, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        schema = handler(core_schema)
        declared = handler.resolve_ref_schema(schema)
        name = {"type": "string", "minLength": 1, "description": _INCLUDE}
        properties = {"include": name, **declared["properties"]}
        including = {**declared, "properties": properties, "required": ["include"]}
        return {"anyOf": [name, schema, including]}
