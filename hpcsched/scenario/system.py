"""The block `system`: its declaration, and the system that follows from it."""

from typing import Annotated, ClassVar, Self

from pydantic import Field, GetJsonSchemaHandler, field_validator, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from hpcsched.parameters import Amount, Listed, Params, PositiveAmount
from hpcsched.scenario.names import RESOURCE_TYPE_PATTERN, Name, ResourceType
from hpcsched.scenario.refusal import refusal, refuse
from hpcsched.scenario.shared_resource_declarations import (
    SharedResourceDeclaration,
    shared_resource_faults,
)
from hpcsched.system.system import NodeGroup, System

_LARGEST_COUNT = 10_000_000
_LARGEST_TOTAL = 2**63 - 1


class GroupDeclaration(Params):
    """A group of identical nodes."""

    name: Name = Field(description="Name of the group; the names of its nodes begin with it.")
    count: int = Field(ge=1, le=_LARGEST_COUNT, description="Number of nodes.")
    resources: dict[ResourceType, Amount] = Field(
        description="Capacity of each node by resource type, as a number or in bytes (16GiB).",
        json_schema_extra={
            "propertyNames": {"pattern": RESOURCE_TYPE_PATTERN},
            "minProperties": 1,
        },
    )

    @field_validator("resources")
    @classmethod
    def _offer_something(cls, resources: dict[str, int]) -> dict[str, int]:
        if not any(resources.values()):
            raise ValueError("expected at least one resource type with more than 0, found none")
        return resources


class SystemDeclaration(Params):
    """The system on which jobs run: groups of identical nodes."""

    former_keys: ClassVar = {"pools": "shared_resources"}

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
        default=(),
        description="Resources of the system as a whole, such as power or licences.",
    )

    @field_validator("groups")
    @classmethod
    def _check_groups(cls, groups: tuple[GroupDeclaration, ...]) -> tuple[GroupDeclaration, ...]:
        names = [group.name for group in groups]
        repeated = [n for n, name in enumerate(names) if name in names[:n]]
        if repeated:
            raise refuse(
                *(
                    refusal(
                        "duplicate-name",
                        f"two groups are called {names[n]!r}",
                        names[n],
                        at=(n, "name"),
                    )
                    for n in repeated
                )
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
        for name, unit in self.units.items():
            if name not in names:
                raise refuse(
                    refusal(
                        "unknown-resource-type",
                        f"no node group has {name}; there are: {', '.join(names)}",
                        unit,
                        at=("units", name),
                    )
                )
            for group in self.groups:
                # Rounded down to a unit, such a node would have none of the resource without
                # anybody noticing.
                if 0 < group.resources.get(name, 0) < unit:
                    raise refuse(
                        refusal(
                            "bad-value",
                            f"a node of {group.name} has less than one unit of {name}",
                            unit,
                            at=("units", name),
                        )
                    )
        return self

    @model_validator(mode="after")
    def _check_shared_resources(self) -> Self:
        names = dict.fromkeys(name for group in self.groups for name in group.resources)
        faults = list(shared_resource_faults(self.shared_resources, list(names)))
        if faults:
            raise refuse(*faults)
        return self

    def build(self) -> System:
        """Return the system that is declared."""
        return System(
            tuple(NodeGroup(group.name, group.count, group.resources) for group in self.groups),
            self.units,
            tuple(resource.build() for resource in self.shared_resources),
        )


_INCLUDE = (
    "The name of a system in a folder `systems` beside the scenario, or of one that comes with"
    " hpcsched; or a path that ends in `.yaml` or `.machines`."
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
