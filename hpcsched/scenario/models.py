"""Models of a scenario: every key that a user may write, with its default."""

from collections.abc import Iterator
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, ValidationInfo, create_model, field_validator, model_validator
from pydantic_core import InitErrorDetails

from hpcsched.errors import PluginError
from hpcsched.parameters import Duration, Listed, Params, ResourceType, Selects
from hpcsched.plugins.registry import PLANS_OFFLINE, SEES_RUN_TIME, Installed, Registry
from hpcsched.scenario.choices import NamedChoice, SourceChoice
from hpcsched.scenario.latency import DispatchLatency
from hpcsched.scenario.live import LiveSettings, not_live
from hpcsched.scenario.names import Name
from hpcsched.scenario.outage_declarations import OutagesDeclaration, unknown_nodes
from hpcsched.scenario.partitions import PartitionDeclaration, partition_clashes, unknown_groups
from hpcsched.scenario.recorded import not_recorded
from hpcsched.scenario.refusal import refusal, refuse
from hpcsched.scenario.system import Includable, SystemDeclaration
from hpcsched.scenario.walk import blocks, mark_of
from hpcsched.simulation.latency import Latency
from hpcsched.system.node_outages import node_numbers

# Names that validation turns into choices, hence no instances of the fields' types.
_REQUESTED_TIME: Any = "requested-time"
_ONE_SECOND: Any = "one-second"
_BOUNDED_SLOWDOWN: Any = "bounded_slowdown"

_SUMMARY = "One configuration of system, trace and dispatcher, to be replayed."


class SimulationSettings(Params):
    """Behaviour of the simulated system."""

    former_keys: ClassVar = {"pooling": "aggregate_nodes"}

    mode: Literal["online", "offline"] = Field(
        default="online",
        description=(
            "Mode: rounds as jobs arrive (online), or one plan of the whole trace with all run"
            " times known, as a bound (offline)."
        ),
    )
    kill_at_requested_time: bool = Field(
        default=False, description="End jobs at their requested time."
    )
    aggregate_nodes: bool = Field(
        default=True,
        description=(
            "Count free units over all nodes if all jobs have equal units: faster, with the same"
            " start times."
        ),
    )
    dispatch_latency: DispatchLatency | None = Field(
        default=None,
        description="Simulated time that each dispatching round takes; none by default.",
    )

    @property
    def latency(self) -> Latency | None:
        """Charge of a round; None if decisions take no simulated time."""
        return None if self.dispatch_latency is None else self.dispatch_latency.build()


class MetricSettings(Params):
    """Percentiles and classes, beside one key for each metric with parameters."""

    percentiles: Annotated[
        tuple[Annotated[int, Field(ge=0, le=100)], ...],
        Listed,
    ] = Field(
        default=(50, 90, 99),
        description="The percentiles, from 0 to 100, at which distributions are reported.",
    )
    class_bounds: Annotated[tuple[Duration, ...], Listed] = Field(
        default=(3600, 18000),
        description=(
            "Ascending run times, in seconds or with a unit (5h), that part jobs into classes."
        ),
    )

    @field_validator("percentiles")
    @classmethod
    def _check_percentiles(cls, percentiles: tuple[int, ...]) -> tuple[int, ...]:
        if len(set(percentiles)) < len(percentiles):
            raise ValueError("expected percentiles that differ, found one twice")
        return percentiles

    @field_validator("class_bounds")
    @classmethod
    def _check_class_bounds(cls, bounds: tuple[int, ...]) -> tuple[int, ...]:
        if list(bounds) != sorted(set(bounds)):
            raise ValueError("expected bounds that ascend, found one that is not above the last")
        return bounds

    def parameters(self, metric: str) -> Params:
        """Return the parameters of a metric; empty for one without any."""
        value = getattr(self, metric, None) if metric in type(self).model_fields else None
        return value if isinstance(value, Params) else Params()


class Scenario(Params):
    """One configuration of system, trace and dispatcher, to be replayed.

    Scenarios come from `load_scenario`, which knows what the names of plugins stand for.
    """

    name: Name = Field(description="Name of the scenario and of its run directory.")
    description: str | None = Field(default=None, description="Purpose of the scenario.")
    seed: int = Field(default=0, ge=0, description="Seed of all random choices.")
    system: Annotated[SystemDeclaration, Includable()] = Field(
        description="System: declared here, or the name of a known one."
    )
    partitions: Annotated[tuple[PartitionDeclaration, ...], Listed] = Field(
        default=(),
        description="Partitions with their own nodes and limits, as of a site's resource manager;"
        " none: every job may run anywhere.",
    )
    outages: OutagesDeclaration | None = Field(
        default=None,
        description="Outages of nodes: maintenance, reservations and failures; none by default.",
    )
    trace: Annotated[SourceChoice, Selects("trace_source")] = Field(
        description="Trace of jobs: a source and its parameters."
    )
    predictor: Annotated[NamedChoice, Selects("predictor")] = Field(
        default=_REQUESTED_TIME, description="Predictor of run times."
    )
    correction: Annotated[NamedChoice, Selects("correction")] = Field(
        default=_ONE_SECOND,
        description="Correction of the prediction for jobs that have outlived it.",
    )
    dispatcher: Annotated[NamedChoice, Selects("dispatcher")] = Field(
        description="Dispatcher, which decides when and where jobs start."
    )
    objective: Annotated[NamedChoice, Selects("objective")] = Field(
        default=_BOUNDED_SLOWDOWN, description="Objective: the quantity to minimise."
    )
    observers: Annotated[tuple[Annotated[NamedChoice, Selects("observer")], ...], Listed] = Field(
        default=(), description="Observers, which follow the simulation without changing it."
    )
    simulation: SimulationSettings = Field(
        default=SimulationSettings(), description="Settings of the simulated system."
    )
    live: LiveSettings | None = Field(
        default=None,
        description="Real cluster on which `hpcsched live` advises or places jobs; nothing else"
        " reads it.",
    )
    metrics: MetricSettings = Field(
        default_factory=MetricSettings,
        description="Parameters of the metrics, and the"
        " percentiles and classes of the distributions.",
    )

    @field_validator("partitions")
    @classmethod
    def _check_partitions(
        cls, partitions: tuple[PartitionDeclaration, ...]
    ) -> tuple[PartitionDeclaration, ...]:
        clashes = list(partition_clashes(partitions))
        if clashes:
            raise refuse(*clashes)
        return partitions

    @model_validator(mode="after")
    def _check_partition_groups(self) -> Self:
        unknown = list(unknown_groups(self.partitions, [g.name for g in self.system.groups]))
        if unknown:
            raise refuse(*unknown)
        return self

    @model_validator(mode="after")
    def _check_resource_types(self) -> Self:
        unknown = list(unknown_resource_types(self))
        if unknown:
            raise refuse(*unknown)
        return self

    @model_validator(mode="after")
    def _check_outage_nodes(self) -> Self:
        if self.outages is not None:
            # A large system takes a while to name its nodes, and most scenarios name none.
            names = cache(lambda: tuple(node_numbers(self.system.build())))
            groups = {group.name: group.count for group in self.system.groups}
            unknown = list(unknown_nodes(self.outages, groups, names))
            if unknown:
                raise refuse(*unknown)
        return self

    @model_validator(mode="after")
    def _check_live(self, info: ValidationInfo) -> Self:
        """Refuse settings that a real cluster cannot have; plugins are known in a loaded file."""
        if self.live is not None:
            counts = {group.name: group.count for group in self.system.groups}
            declared = [key for key in ("partitions", "outages") if attrgetter(key)(self)]
            shared = self.system.shared_resources
            if any(one.draw != "as_the_trace_says" or one.changes for one in shared):
                declared.append("system.shared_resources")
            refusals = list(not_live(self.live, counts, declared))
            if self.simulation.mode == "offline":
                message = (
                    "a real cluster is dispatched on-line; it does not go with 'mode: offline'"
                )
                refusals.append(refusal("not-live", message, None, at=("simulation", "mode")))
            if info.context is not None:
                predictor = self.predictor.plugin_name
                plugin = info.context["choose"].registry.get("predictor", predictor).plugin
                if SEES_RUN_TIME in plugin.capabilities:
                    message = f"{predictor} is shown run times, which no real cluster knows"
                    refusals.append(refusal("not-live", message, predictor, at=("predictor",)))
            if refusals:
                raise refuse(*refusals)
        return self

    @model_validator(mode="after")
    def _check_mode(self, info: ValidationInfo) -> Self:
        """Refuse settings that off-line planning cannot have; plugins are known once loaded."""
        if self.simulation.mode == "offline" and info.context is not None:
            refusals = list(not_offline(self, info.context["choose"].registry))
            if refusals:
                raise refuse(*refusals)
        return self

    @model_validator(mode="after")
    def _check_recorded(self, info: ValidationInfo) -> Self:
        """Refuse settings that contradict a log's starts; plugins are known in a loaded file."""
        if info.context is not None:
            refusals = list(not_recorded(self, info.context["choose"].registry))
            if refusals:
                raise refuse(*refusals)
        return self


def unknown_resource_types(scenario: Scenario) -> Iterator[InitErrorDetails]:
    """Yield the names of resource types in a scenario's trace that no node group has."""
    types = dict.fromkeys(name for g in scenario.system.groups for name in g.resources)
    for path, block in blocks(scenario.trace, ("trace",)):
        for key, field in type(block).model_fields.items():
            mark = mark_of(field, ResourceType)
            name = getattr(block, key)
            if mark is None or name in types or name in mark.beside:
                continue
            message = (
                f"no node group has the resource type {name!r};"
                f" there are: {', '.join((*mark.beside, *types))}"
            )
            yield refusal("unknown-resource-type", message, name, at=(*path, key))


def not_offline(scenario: Scenario, registry: Registry) -> Iterator[InitErrorDetails]:
    """Yield the settings of a scenario that cannot be used with off-line planning."""
    chosen = (
        ("dispatcher", PLANS_OFFLINE, "plan a whole trace", scenario.dispatcher),
        ("predictor", SEES_RUN_TIME, "foresee run times", scenario.predictor),
    )
    for kind, capability, what, choice in chosen:
        if capability not in registry.get(kind, choice.plugin_name).plugin.capabilities:
            able = [
                installed.plugin.name
                for installed in registry.of_kind(kind)
                if capability in installed.plugin.capabilities
            ]
            message = (
                f"'mode: offline' needs a {kind} that can {what}, and {choice.plugin_name} cannot;"
                f" there are: {', '.join(able)}"
            )
            yield refusal("not-offline", message, choice.plugin_name, at=(kind,))
    # The settings below are of a replay: the planner would not look at them.
    if scenario.simulation.dispatch_latency is not None:
        message = "in 'mode: offline' no decision takes time: there is one plan for the whole trace"
        at = ("simulation", "dispatch_latency")
        yield refusal("not-offline", message, None, at=at)
    if scenario.system.shared_resources:
        message = "'mode: offline' plans for a system without shared resources"
        yield refusal("not-offline", message, None, at=("system", "shared_resources"))
    if scenario.partitions:
        message = "'mode: offline' plans for a system without partitions and their limits"
        yield refusal("not-offline", message, None, at=("partitions",))
    if scenario.outages is not None:
        message = "'mode: offline' plans for a system that is in service all the time"
        yield refusal("not-offline", message, None, at=("outages",))
    if getattr(scenario.trace, "dependencies", None) == "honour":
        message = "'mode: offline' plans for jobs that do not wait for others to end"
        yield refusal("not-offline", message, "honour", at=("trace", "dependencies"))


def scenario_model(registry: Registry) -> type[Scenario]:
    """Return the model of scenarios that may use the plugins of a registry.

    Raises
    ------
    PluginError
        If the parameters of a metric cannot have a key of their own.
    """
    return _with_metrics(tuple(registry.of_kind("metric")))


@cache
def _with_metrics(metrics: tuple[Installed, ...]) -> type[Scenario]:
    fields: dict[str, Any] = {}
    for installed in metrics:
        parameters = installed.plugin.params.model_fields
        if not parameters:
            continue
        _check_metric(installed)
        # The default is validated, so that a metric's parameters are there as a model and not as a
        # dict.
        default = Field(
            default_factory=dict, validate_default=True, description=installed.plugin.summary
        )
        fields[installed.plugin.name] = (installed.plugin.params, default)
    settings = create_model(
        "Metrics", __base__=MetricSettings, __doc__=MetricSettings.__doc__, **fields
    )
    metrics_field: Any = Field(
        default_factory=dict,
        validate_default=True,
        description=Scenario.model_fields["metrics"].description,
    )
    return create_model(
        "Scenario", __base__=Scenario, __doc__=_SUMMARY, metrics=(settings, metrics_field)
    )


def _check_metric(installed: Installed) -> None:
    name, params = installed.plugin.name, installed.plugin.params
    required = [key for key, field in params.model_fields.items() if field.is_required()]
    if required:
        raise PluginError(f"{installed.origin}: its parameter {required[0]!r} must have a default")
    if name in MetricSettings.model_fields or hasattr(MetricSettings, name):
        raise PluginError(f"{installed.origin}: it is called as something else in `metrics:`")
