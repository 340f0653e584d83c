"""Models of a scenario: every key that a user may write, with its default."""

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    ValidationInfo,
    create_model,
    model_validator,
)
from pydantic_core import InitErrorDetails

from hpcsched.errors import PluginError
from hpcsched.parameters import (
    Duration,
    Listed,
    NotReproducible,
    Params,
    Quantity,
    ResourceType,
    Selects,
    parse_duration,
)
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import (
    FOLLOWS_RECORD,
    KEEPS_WAITS,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
)
from hpcsched.scenario.choices import NamedChoice, SourceChoice, Transformed
from hpcsched.scenario.faults import refusal, refuse_all
from hpcsched.scenario.key_path import KeyPath, blocks, marked
from hpcsched.scenario.live import LiveSettings, wrong_hosts
from hpcsched.scenario.outage_declarations import OutagesDeclaration, unknown_nodes
from hpcsched.scenario.policy_declarations import (
    DeclaredAccounts,
    DeclaredQos,
    build_policies,
)
from hpcsched.scenario.preemption_declarations import (
    CheckpointDeclaration,
    PreemptDeclaration,
    preemption_faults,
)
from hpcsched.scenario.system import (
    DeclaredPartitions,
    Includable,
    Name,
    SystemDeclaration,
    unknown_groups,
)
from hpcsched.simulation.latency import Latency
from hpcsched.system.outages import node_numbers

_SECONDS_PATTERN = r"^\s*(\d+\s*ms|(\d+\s*(s|min|h|d|w)\s*)+)\s*$"


def _parse_seconds(text: str) -> float:
    # Durations elsewhere are whole seconds, so that `ms` is a unit in this block alone.
    milliseconds = re.fullmatch(r"(\d+)\s*ms", text.strip())
    return int(milliseconds[1]) / 1000 if milliseconds else parse_duration(text)


Seconds = Annotated[float, Quantity(_parse_seconds, _SECONDS_PATTERN, 0)]
"""Seconds and fractions of them: a number, or a text with units (`120ms`, `2s`)."""

_MODEL = {"base", "per_queued_job", "per_variable"}
_FORMS = "fixed, or measured, or some of base, per_queued_job and per_variable"


class DispatchLatency(Params):
    """Charge of a dispatching round: a fixed time, a model of it, or the measured time."""

    fixed: Seconds | None = None
    """Constant latency of every round: seconds (0.12), or with a unit (120ms, 2s)."""
    base: Seconds | None = None
    """Latency model, constant term: seconds, or with a unit."""
    per_queued_job: Seconds | None = None
    """Latency model, term for each queued job: seconds, or with a unit."""
    per_variable: Seconds | None = None
    """Latency model, term for each decision variable if a solver was called: seconds, or with a
    unit."""
    measured: Annotated[
        float | None, NotReproducible("the dispatch latency is measured by the clock")
    ] = Field(default=None, ge=0, le=1_000_000)
    """Factor of the measured decision time (no unit)."""

    @model_validator(mode="after")
    def _check_form(self) -> Self:
        used = [key for key in type(self).model_fields if getattr(self, key) is not None]
        if not used:
            raise ValueError(f"expected {_FORMS}, found nothing")
        refuse_all(
            refusal("bad-value", f"expected {_FORMS}, found {key} beside {used[0]}", at=(key,))
            for key in used[1:]
            if not {key, used[0]} <= _MODEL
        )
        return self

    def build(self) -> Latency:
        """Return the declared charge, exactly as its numbers are written."""
        return Latency(
            _exact(self.base if self.fixed is None else self.fixed),
            _exact(self.per_queued_job),
            _exact(self.per_variable),
            _exact(self.measured),
        )


def _exact(number: float | None) -> Fraction:
    """Return a number as it is written: 0.1 is a tenth."""
    # `Fraction(0.7)` is the binary number just below seven tenths: ten rounds of 0.7 s would be
    # charged 6 s in all instead of 7.
    return Fraction(repr(number or 0.0))


RULE = "not-recorded"
PREDICTOR = "requested-time"
"""The predictor of scenarios that name none."""


def without_waits(
    scenario: "Scenario", registry: Registry, who: str
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the settings of a trace for which its log records no schedule of its jobs."""
    source = scenario.trace.plugin_name
    if not _can(registry, "trace_source", source, RECORDS_WAITS):
        message = (
            f"{who} needs a log that records when jobs started, and {source} does"
            f" not; there are: {_able(registry, 'trace_source', RECORDS_WAITS)}"
        )
        yield ("trace", "source"), message
    trace = scenario.trace
    chosen: Sequence[NamedChoice] = trace.transforms if isinstance(trace, Transformed) else ()
    # Recorded waits are relative to submissions: moving a submission would move the start with it.
    for k, transform in enumerate([choice.plugin_name for choice in chosen]):
        if not _can(registry, "transform", transform, KEEPS_WAITS):
            message = (
                f"the transform {transform} changes submissions or jobs, so that the recorded"
                f" starts are no schedule of them; leave it out, or {who}"
            )
            yield ("trace", "transforms", k), message


# Names that validation turns into choices, hence no instances of the fields' types.
_REQUESTED_TIME: Any = PREDICTOR
_ONE_SECOND: Any = "one-second"
_BOUNDED_SLOWDOWN: Any = "bounded_slowdown"


class SimulationSettings(Params):
    """Behaviour of the simulated system."""

    mode: Literal["online", "offline"] = "online"
    """Mode: rounds as jobs arrive (online), or one plan of the whole trace with all run times
    known, as a bound (offline)."""
    kill_at_requested_time: bool = False
    """End jobs at their requested time."""
    aggregate_nodes: bool = True
    """Count free units over all nodes if all jobs have equal units: faster, with the same start
    times."""
    dispatch_latency: DispatchLatency | None = None
    """Simulated time that each dispatching round takes; none by default."""

    @property
    def latency(self) -> Latency | None:
        """Charge of a round; None if decisions take no simulated time."""
        return None if self.dispatch_latency is None else self.dispatch_latency.build()


def _distinct(percentiles: tuple[int, ...]) -> tuple[int, ...]:
    if len(set(percentiles)) < len(percentiles):
        raise ValueError("expected percentiles that differ, found one twice")
    return percentiles


def _ascending(bounds: tuple[int, ...]) -> tuple[int, ...]:
    if list(bounds) != sorted(set(bounds)):
        raise ValueError("expected bounds that ascend, found one that is not above the last")
    return bounds


class MetricSettings(Params):
    """Percentiles and classes, beside one key for each metric with parameters."""

    percentiles: Annotated[
        tuple[Annotated[int, Field(ge=0, le=100)], ...], Listed, AfterValidator(_distinct)
    ] = (50, 90, 99)
    """The percentiles, from 0 to 100, at which distributions are reported."""
    class_bounds: Annotated[tuple[Duration, ...], Listed, AfterValidator(_ascending)] = (
        3600,
        18000,
    )
    """Ascending run times, in seconds or with a unit (5h), that part jobs into classes."""

    def parameters(self, metric: str) -> Params:
        """Return the parameters of a metric; empty for one without any."""
        value = getattr(self, metric, None) if metric in type(self).model_fields else None
        return value if isinstance(value, Params) else Params()


class Scenario(Params):
    """One configuration of system, trace and dispatcher, to be replayed."""

    name: Name
    """Name of the scenario and of its run directory."""
    description: str | None = None
    """Purpose of the scenario."""
    seed: int = Field(default=0, ge=0)
    """Seed of all random choices."""
    system: Annotated[SystemDeclaration, Includable()]
    """System: declared here, or the name of a known one."""
    partitions: DeclaredPartitions = ()
    """Partitions with their own nodes and limits, as of a site's resource manager; none: every job
    may run anywhere."""
    qos: DeclaredQos = Field(default_factory=dict)
    """Qualities of service by queue number, or by name where the trace has names: priorities and
    limits; none by default."""
    accounts: DeclaredAccounts = Field(default_factory=dict)
    """Tree of accounts by name: shares, users, usage and limits; without it users have no
    accounts."""
    outages: OutagesDeclaration | None = None
    """Outages of nodes: maintenance, reservations and failures; none by default."""
    preempt: PreemptDeclaration | None = None
    """Preemption of running jobs by waiting ones; none by default."""
    checkpoint: CheckpointDeclaration | None = None
    """Checkpoints from which jobs go on after an outage or preemption; without them they begin
    anew."""
    trace: Annotated[SourceChoice, Selects("trace_source")]
    """Trace of jobs: a source and its parameters."""
    predictor: Annotated[NamedChoice, Selects("predictor")] = _REQUESTED_TIME
    """Predictor of run times."""
    correction: Annotated[NamedChoice, Selects("correction")] = _ONE_SECOND
    """Correction of the prediction for jobs that have outlived it."""
    dispatcher: Annotated[NamedChoice, Selects("dispatcher")]
    """Dispatcher, which decides when and where jobs start."""
    objective: Annotated[NamedChoice, Selects("objective")] = _BOUNDED_SLOWDOWN
    """Objective: the quantity to minimise."""
    observers: Annotated[tuple[Annotated[NamedChoice, Selects("observer")], ...], Listed] = ()
    """Observers, which follow the simulation without changing it."""
    simulation: SimulationSettings = Field(default=SimulationSettings())
    """Settings of the simulated system."""
    live: LiveSettings | None = None
    """Real cluster on which `hpcsched live` advises or places jobs; nothing else reads it."""
    metrics: MetricSettings = Field(default_factory=MetricSettings)
    """Parameters of the metrics, and the percentiles and classes of the distributions."""

    @model_validator(mode="after")
    def _check_parts_together(self, info: ValidationInfo) -> Self:
        groups = {group.name: group.count for group in self.system.groups}
        refuse_all(unknown_groups(self.partitions, list(groups)))
        refuse_all(unknown_resource_types(self))
        for n, partition in enumerate(self.partitions):
            if partition.qos is not None and partition.qos not in self.qos:
                known = ", ".join(map(str, self.qos)) or "none"
                message = f"there is no QOS {partition.qos!r}; there are: {known}"
                refuse_all([refusal("unknown-qos", message, at=("partitions", n, "qos"))])
        if self.outages is not None:
            # A large system takes a while to name its nodes, and most scenarios name none.
            names = cache(lambda: tuple(node_numbers(self.system.build())))
            refuse_all(unknown_nodes(self.outages, groups, names))
        # Plugins are known in a loaded file alone.
        registry = None if info.context is None else info.context["choose"].registry
        if registry is not None:
            refuse_all(_unsuitable(self, registry))
        return self


def _unsuitable(scenario: Scenario, registry: Registry) -> Iterator[InitErrorDetails]:
    """Yield the settings that do not go with the mode, the dispatcher or a real cluster."""
    predictor, dispatcher = scenario.predictor.plugin_name, scenario.dispatcher.plugin_name
    shared = scenario.system.shared_resources
    limited_by = {
        "qos": build_policies(scenario.qos, {}).limited,
        "accounts": build_policies({}, scenario.accounts).limited,
    }
    declared: dict[KeyPath, bool] = {
        ("partitions",): bool(scenario.partitions),
        ("qos",): limited_by["qos"],
        ("accounts",): limited_by["accounts"],
        ("outages",): scenario.outages is not None,
        ("preempt",): scenario.preempt is not None,
        ("checkpoint",): scenario.checkpoint is not None,
        ("system", "shared_resources"): bool(shared),
        ("simulation", "dispatch_latency"): scenario.simulation.dispatch_latency is not None,
        ("trace", "dependencies"): getattr(scenario.trace, "dependencies", None) == "honour",
        ("live",): scenario.live is not None,
    }
    unsuitable: list[tuple[str, str, KeyPath]] = []
    foresees = _can(registry, "predictor", predictor, SEES_RUN_TIME)
    offline = scenario.simulation.mode == "offline"
    if offline:
        why = "'mode: offline' makes one plan of a whole trace, for a system that is always free"
        unsuitable += [("not-offline", why, at) for at in tuple(declared)[:-1]]
        plans = _can(registry, "dispatcher", dispatcher, PLANS_OFFLINE)
        for kind, name, capability, can, what in (
            ("dispatcher", dispatcher, PLANS_OFFLINE, plans, "plan a whole trace"),
            ("predictor", predictor, SEES_RUN_TIME, foresees, "foresee run times"),
        ):
            if not can:
                message = (
                    f"'mode: offline' needs a {kind} that can {what}, and {name} cannot;"
                    f" there are: {_able(registry, kind, capability)}"
                )
                yield refusal("not-offline", message, at=(kind,))
    if _can(registry, "dispatcher", dispatcher, FOLLOWS_RECORD):
        who = f"the dispatcher {dispatcher}"
        for at, message in without_waits(scenario, registry, who):
            yield refusal(RULE, message, at=at)
        why = f"{who} starts jobs when the log says, where nothing else holds them back"
        unsuitable += [(RULE, why, at) for at in tuple(declared)[3:]]
        if predictor != PREDICTOR:
            message = f"{who} needs no predictor; expected {PREDICTOR}, or none"
            yield refusal(RULE, message, at=("predictor",))
    if scenario.live is not None:
        counts = {group.name: group.count for group in scenario.system.groups}
        yield from wrong_hosts(scenario.live.nodes, counts)
        # Refused and not ignored: an operator who declares them expects them to bind.
        why = "a real cluster has its own, which bind there"
        unsuitable += [("not-live", why, at) for at in tuple(declared)[:6]]
        if any(one.draw != "as_the_trace_says" or one.changes for one in shared):
            message = (
                "a real cluster tells itself how much there is and what jobs draw: expected 'draw:"
                " as_the_trace_says' and no 'changes'"
            )
            yield refusal("not-live", message, at=("system", "shared_resources"))
        if offline:
            message = "a real cluster is dispatched on-line; it does not go with 'mode: offline'"
            yield refusal("not-live", message, at=("simulation", "mode"))
        if foresees:
            message = f"{predictor} is shown run times, which no real cluster knows"
            yield refusal("not-live", message, at=("predictor",))
    yield from _without_preemption(scenario)
    for rule, why, at in unsuitable:
        if declared[at]:
            what = f"limits of {at[-1]}" if at[0] in limited_by else str(at[-1])
            yield refusal(rule, f"{why}; expected no {what}", at=at)


def _without_preemption(scenario: Scenario) -> Iterator[InitErrorDetails]:
    """Yield the settings that do not go with preemption."""
    if scenario.preempt is None:
        return
    if scenario.simulation.dispatch_latency is not None:
        message = "jobs are preempted in rounds that take no simulated time; expected none"
        yield refusal("no-preemption", message, at=("simulation", "dispatch_latency"))
    for at, message in preemption_faults(scenario.preempt, scenario.partitions, scenario.qos):
        yield refusal("no-preemption", message, at=at)


def _can(registry: Registry, kind: str, name: str, capability: str) -> bool:
    return capability in registry.get(kind, name).plugin.capabilities


def _able(registry: Registry, kind: str, capability: str) -> str:
    """Return the names of the plugins with a capability."""
    found = registry.of_kind(kind)
    return ", ".join(one.plugin.name for one in found if capability in one.plugin.capabilities)


def unknown_resource_types(scenario: Scenario) -> Iterator[InitErrorDetails]:
    """Yield the names of resource types in a scenario that no node group has."""
    types = dict.fromkeys(name for g in scenario.system.groups for name in g.resources)
    parts = ("trace", "qos", "accounts", "partitions")
    for path, block in chain(*(blocks(getattr(scenario, part), (part,)) for part in parts)):
        for key, mark in marked(type(block), ResourceType).items():
            value = getattr(block, key)
            # A text that names a resource type, or amounts of several.
            several = isinstance(value, Mapping)
            for name in value if several else [value]:
                if name in types or name in mark.beside:
                    continue
                message = (
                    f"no node group has the resource type {name!r};"
                    f" there are: {', '.join((*mark.beside, *types))}"
                )
                at = (*path, key, name) if several else (*path, key)
                yield refusal("unknown-resource-type", message, at=at)


def scenario_model(registry: Registry) -> type[Scenario]:
    """Return the model of scenarios that may use the plugins of a registry.

    Raises PluginError if the parameters of a metric cannot have a key of their own.
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
    metrics_field: Any = Field(default_factory=dict, validate_default=True)
    return create_model(
        "Scenario", __base__=Scenario, __doc__=Scenario.__doc__, metrics=(settings, metrics_field)
    )


def _check_metric(installed: Installed) -> None:
    name, params = installed.plugin.name, installed.plugin.params
    required = [key for key, field in params.model_fields.items() if field.is_required()]
    if required:
        raise PluginError(f"{installed.origin}: its parameter {required[0]!r} must have a default")
    if name in MetricSettings.model_fields or hasattr(MetricSettings, name):
        raise PluginError(f"{installed.origin}: it is called as something else in `metrics:`")
