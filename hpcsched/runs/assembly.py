"""Assembly: from a scenario to the parts of a simulation."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from hpcsched.dispatching.offline.offline_problem import PlansOffline
from hpcsched.dispatching.problem import Dispatcher, JobEventObserver, Objective
from hpcsched.dispatching.rules.recorded import FollowsRecord, RecordedStarts
from hpcsched.errors import Finding, HpcschedError, InputError, PluginError
from hpcsched.metrics.metric import ChosenMetric
from hpcsched.parameters import Params
from hpcsched.plugin_faults import FAULTS, culprit, prints_to_stderr, raised, remember
from hpcsched.plugins.manager import registry as installed_plugins
from hpcsched.plugins.plugin_checks import check_product
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.prediction.predictor import Correction, Oracle, Predictor
from hpcsched.registration import (
    FOLLOWS_RECORD,
    KEEPS_REQUESTS,
    NEEDS_DEVICES,
    PLANS_OFFLINE,
    RECORDS_WAITS,
    SEES_RUN_TIME,
)
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.manifest import kept_answers
from hpcsched.scenario import LoadedScenario, Scenario, load_scenario
from hpcsched.scenario.choices import Choice, Transformed
from hpcsched.scenario.key_path import blocks, marks_of
from hpcsched.scenario.policy_declarations import build_policies
from hpcsched.scenario.preemption_declarations import build_preemption
from hpcsched.scenario.review import not_reproducible
from hpcsched.scenario.system import build_partitions
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.preemption import Preemption
from hpcsched.workload.site_partitions import Partitions
from hpcsched.workload.site_policies import SitePolicies
from hpcsched.workload.trace_source import (
    TraceSource,
    answer_again,
    checked_source,
    has_dependencies,
    recorded_waits,
)
from hpcsched.workload.transform import TransformedSource

_ASK_PYTHON = ("reasons", "cpu-memory")
"""The observers for which Python is asked at each event."""

FOLLOWING = ("dispatcher", "queue_order", "allocator")
"""The kinds of plugin that may follow jobs; an observer's methods of these names are others."""


@dataclass
class Assembly:
    """The parts of a scenario, each built from its plugin when it is first asked for.

    It is also the `Context` that factories are given.

    Attributes
    ----------
    folder : Path
        The run directory, for plugins that write files.
    followers : list
        Built parts that are to be told of starts and ends of jobs.
    allocators : list
        Built allocators.
    """

    scenario: Scenario
    registry: Registry
    folder: Path
    followers: list[JobEventObserver] = field(init=False, default_factory=list)
    allocators: list[object] = field(init=False, default_factory=list)
    seed_read: bool = field(init=False, default=False)
    _seed: int = field(init=False)

    def __post_init__(self) -> None:
        self._seed = self.scenario.seed

    @property
    def seed(self) -> int:
        """Seed of the plugin that is being built; else the scenario's."""
        self.seed_read = True
        return self._seed

    def build_all(self) -> Self:
        """Build every part now, so that faults are found before anything is written."""
        # The order of messages, and of what is told of starts and ends, is that of the class.
        for name, part in list(vars(Assembly).items()):
            if isinstance(part, cached_property):
                getattr(self, name)
        if self.system.devices is not None or self.scores_nodes:
            self._check_devices()
        return self

    @property
    def scores_nodes(self) -> bool:
        """True if an allocator by scores was built, also for a part of the dispatcher."""
        if not self.allocators:
            return False
        # Its imports are there with any allocator.
        from hpcsched.dispatching.rules.device_allocators import ScoreAllocator  # noqa: PLC0415

        return any(isinstance(one, ScoreAllocator) for one in self.allocators)

    def _check_devices(self) -> None:
        """Check what does not go with devices or scores; a run looks at observers of others."""
        from hpcsched.simulation.replay_choices import (  # noqa: PLC0415 (see `preemption`)
            check_devices,
            dispatcher_obstacles,
        )

        why: list[str] = []
        if self.scores_nodes:
            why = dispatcher_obstacles(self.dispatcher, self.scenario.dispatcher.plugin_name)
            chosen = [choice.plugin_name for choice in self.scenario.observers]
            why += [f"the observer {name}" for name in chosen if name in _ASK_PYTHON]
        why += ["planning off-line"] if self.scenario.simulation.mode == "offline" else []
        why += ["a real cluster"] if self.scenario.live is not None else []
        check_devices(why)

    @cached_property
    def system(self) -> System:
        """System of the scenario."""
        return self.scenario.system.build()

    @property
    def capacity(self) -> dict[str, int]:
        """Capacity of the system, by resource type."""
        return dict(zip(self.system.resource_types, self.system.totals, strict=True))

    @cached_property
    def partitions(self) -> Partitions:
        """Partitions of the scenario, maybe none."""
        return build_partitions(self.scenario.partitions)

    @cached_property
    def policies(self) -> SitePolicies:
        """QOS and accounts of the scenario, maybe none."""
        return build_policies(self.scenario.qos, self.scenario.accounts)

    @cached_property
    def outages(self) -> Outages:
        """Outages of the scenario, drawn failures included."""
        declared = self.scenario.outages
        if declared is None:
            return NO_OUTAGES
        return declared.build(self.system, self._outage_seed)

    @cached_property
    def preemption(self) -> Preemption | None:
        """Rules of preemption; None without any."""
        built = build_preemption(self.scenario.preempt, self.scenario.partitions, self.scenario.qos)
        if built is None:
            return None
        # It imports tables, which few scenarios need before they run.
        from hpcsched.simulation.replay_choices import (  # noqa: PLC0415
            changing_orders,
            dispatcher_obstacles,
        )

        why = dispatcher_obstacles(self.dispatcher, self.scenario.dispatcher.plugin_name)
        if built.by == "priority" and built.classes:
            why += changing_orders(self.dispatcher)
        if why:
            message = (
                "preemption and tiers of partitions need a dispatcher that the core decides, in an"
                f" order that does not change for 'by: priority'; found {', '.join(why)}"
            )
            key = "partitions" if self.scenario.preempt is None else "preempt"
            raise InputError(Finding("no-preemption", message, key=key))
        return built

    def _outage_seed(self, name: str) -> int:
        self.seed_read = True
        return spawn_seed(self.scenario.seed, "outages", name)

    @cached_property
    def objective(self) -> Objective:
        """Objective of the scenario."""
        objective: Objective = self.make("objective", self.scenario.objective)
        return objective

    @cached_property
    def source(self) -> TraceSource:
        """Trace source, with its transforms."""
        source: TraceSource = self.make("trace_source", self.scenario.trace)
        return source

    @cached_property
    def predictor(self) -> Predictor | Oracle:
        """Run-time predictor."""
        predictor: Predictor | Oracle = self.make("predictor", self.scenario.predictor)
        has = isinstance(predictor, Oracle)
        self._check_declared("predictor", SEES_RUN_TIME, "foresee", has=has)
        return predictor

    @cached_property
    def correction(self) -> Correction:
        """Correction of outlived predictions."""
        correction: Correction = self.make("correction", self.scenario.correction)
        return correction

    @cached_property
    def dispatcher(self) -> Dispatcher:
        """Dispatcher."""
        dispatcher: Dispatcher = self.make("dispatcher", self.scenario.dispatcher)
        has = isinstance(dispatcher, PlansOffline)
        self._check_declared("dispatcher", PLANS_OFFLINE, "plan_offline", has=has)
        return dispatcher

    @cached_property
    def recorded(self) -> RecordedStarts | None:
        """Starts of the log, passed to a dispatcher that follows them; None for any other."""
        dispatcher = self.dispatcher
        has = isinstance(dispatcher, FollowsRecord)
        self._check_declared("dispatcher", FOLLOWS_RECORD, "follow_record", has=has)
        if not isinstance(dispatcher, FollowsRecord):
            return None
        waits = recorded_waits(self.source)
        self._check_declared("trace_source", RECORDS_WAITS, "keep_waits", has=waits is not None)
        assert waits is not None, "the scenario was not checked"
        return dispatcher.follow_record(waits, ", ".join(map(str, self.source.files)))

    def make(self, kind: str, choice: Any) -> Any:
        """Build the chosen plugin; a trace source with its transforms."""
        built = self._build(self.registry.get(kind, choice.plugin_name), choice)
        if kind == "allocator":
            self.allocators.append(built)
        if isinstance(choice, Transformed) and choice.transforms:
            return self._transformed(built, choice.transforms)
        return built

    def _transformed(self, source: TraceSource, chosen: Sequence[Choice]) -> TransformedSource:
        transforms = [(choice.plugin_name, self.make("transform", choice)) for choice in chosen]
        keeps_requests = all(
            KEEPS_REQUESTS in self.registry.get("transform", name).plugin.capabilities
            for name, _ in transforms
        )
        return TransformedSource(source, transforms, keeps_requests, self.system)

    def _build(self, installed: Installed, parameters: Params) -> Any:
        kind, name = installed.kind, installed.plugin.name
        origin = installed.origin
        # A factory may build other plugins within, so the outer seed is put back in the end.
        outer, self._seed = self._seed, spawn_seed(self.scenario.seed, kind, name)
        try:
            with prints_to_stderr:
                built: Any = installed.plugin.factory(parameters, self)
        except HpcschedError:
            raise
        except FAULTS as error:
            # It may have asked another plugin, such as a dispatcher its solver.
            guilty = culprit(error)
            if guilty is not None and guilty != origin:
                message = f"{guilty}, asked by {origin}: {raised(error)}"
                raise PluginError(message) from error
            raise PluginError(f"{origin}: cannot be built: {raised(error)}") from error
        finally:
            self._seed = outer
        check_product(built, origin)
        if kind == "solver" and not (built.deterministic or any(marks_of(parameters))):
            raise PluginError(
                f"{origin}: expected parameters that say in 'not_reproducible' why it is not"
                " deterministic, found none"
            )
        remember(built, origin)
        if kind == "trace_source" and origin.is_third_party:
            built = checked_source(built, self.system)
            remember(built, origin)
        if kind in FOLLOWING and isinstance(built, JobEventObserver):
            self.followers.append(built)
        return built

    def observers(self) -> list[Observer]:
        """Build the observers that the scenario lists; some write into the run directory."""
        return [self.make("observer", choice) for choice in self.scenario.observers]

    def metrics(self) -> dict[str, ChosenMetric]:
        """Build every metric that the system allows, with the parameters of the scenario."""
        built = {}
        for installed in self.registry.of_kind("metric", as_registered=True):
            if self.system.devices is None and NEEDS_DEVICES in installed.plugin.capabilities:
                continue
            parameters = self.scenario.metrics.parameters(installed.plugin.name)
            metric = self._build(installed, parameters)
            built[installed.plugin.name] = ChosenMetric(metric, parameters.model_dump())
        return built

    def distributions(self, *chosen: Choice) -> dict[str, str]:
        """Return the versions of the distributions of some choices, by default of the scenario."""
        used = {}
        # A choice may hold others: the order of a dispatcher may come from another distribution.
        for _, block in blocks(chosen or self.scenario):
            if isinstance(block, Choice):
                installed = self.registry.get(block.plugin_kind, block.plugin_name)
                used[installed.distribution] = installed.version
        return used

    def _check_declared(self, kind: str, capability: str, method: str, *, has: bool) -> None:
        """Raise PluginError if a capability is declared without its method, or the reverse.

        A predictor around an oracle may see run times too: a scenario is reviewed by its names, and
        the oracle's stands in it.
        """
        chosen = getattr(self.scenario, "trace" if kind == "trace_source" else kind)
        outer, *within = [
            self.registry.get(block.plugin_kind, block.plugin_name)
            for _, block in blocks(chosen)
            if isinstance(block, Choice) and (block is chosen or kind == "predictor")
        ]
        declared = capability in outer.plugin.capabilities
        within_too = any(capability in one.plugin.capabilities for one in within)
        if has != declared and not (has and within_too):
            raise PluginError(
                f"{outer.origin}: it {'declares' if declared else 'does not declare'} the"
                f" capability {capability!r} and {'has a' if has else 'has no'} method {method!r}"
            )


def spawn_seed(seed: int, kind: str, name: str) -> int:
    """Return a seed for one plugin of a scenario, equal on every machine."""
    # Not `hash`, which differs from process to process.
    digest = hashlib.sha256(f"{seed}/{kind}/{name}".encode()).digest()
    return int.from_bytes(digest[:8])


def assemble(
    scenario: Scenario, registry: Registry | None = None, folder: Path = Path()
) -> Assembly:
    """Return the parts of a scenario, each built when it is first used."""
    return Assembly(scenario, registry or installed_plugins(), folder)


def assemble_again(run: RunDirectory, folder: Path = Path()) -> Assembly:
    """Return the parts of a run's scenario; its trace reads the answers that the run kept."""
    assembly = assemble(load_scenario(run.scenario_path), folder=folder)
    answers = kept_answers(run.path, run.manifest)
    if answers:
        answer_again(assembly.source, answers)
    return assembly


def build_faults(loaded: LoadedScenario) -> Sequence[Finding]:
    """Return the errors of building the parts of a scenario, as at the begin of a run.

    Nothing is replayed. Of a trace no more is read than its source reads when it is made.
    """
    try:
        # A run begins with its metrics; observers write into its directory, so they are left out.
        assemble(loaded.scenario, loaded.registry).build_all().metrics()
    except InputError as error:
        return loaded.located(error.findings)
    return ()


def seed_matters(scenario: Scenario, registry: Registry | None = None) -> bool:
    """Return whether runs of a scenario with several seeds may differ.

    False is certain, for plugins that take their random numbers from the seed: no part has asked
    for it, and none depends on the machine. True is a possibility. Where a part cannot be built,
    its own message says more, and the answer is True.
    """
    if next(not_reproducible(scenario), None) is not None:
        return True
    try:
        return assemble(scenario, registry).build_all().seed_read
    except HpcschedError:
        return True


MOST_SLOTS = 2**26
"""Largest number of slots that are counted; larger systems are simulated node by node."""


def parts_of(assembly: Assembly, observers: Sequence[Observer]) -> Parts:
    """Return the parts of the simulation of an assembled scenario."""
    scenario, checkpoint = assembly.scenario, assembly.scenario.checkpoint
    # Units that may not go everywhere cannot be counted.
    aggregated = scenario.simulation.aggregate_nodes
    aggregated = aggregated and not assembly.partitions.bind_nodes(assembly.system)
    aggregated = aggregated and not assembly.outages.all and not assembly.system.shared_resources
    unit = assembly.source.uniform_request
    # A node of an amount such as 1 TiB would be worth 2^40 slots, each with room in memory.
    if unit is not None and room_for(assembly.system, unit) > MOST_SLOTS:
        aggregated = False
    return Parts(
        assembly.system,
        assembly.dispatcher,
        scenario.dispatcher.plugin_name,
        assembly.predictor,
        assembly.objective,
        observers,
        unit if aggregated else None,
        scenario.simulation.kill_at_requested_time,
        scenario.simulation.latency,
        assembly.correction,
        assembly.partitions,
        assembly.followers,
        has_dependencies(assembly.source),
        assembly.outages,
        predictor_name=scenario.predictor.plugin_name,
        recorded=assembly.recorded,
        policies=assembly.policies,
        preemption=assembly.preemption,
        checkpoints=None if checkpoint is None else checkpoint.build(),
    )
