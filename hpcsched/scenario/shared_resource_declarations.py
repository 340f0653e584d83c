"""Declaration of the block `shared_resources` of a system, and its checks."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from hpcsched.parameters import Amount, Duration, Listed, Params, PositiveDuration
from hpcsched.scenario.names import RESOURCE_TYPE_PATTERN, ResourceType
from hpcsched.scenario.refusal import refusal
from hpcsched.system.shared_resources import Change, Draw, SharedResource


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
