"""What is installed: plugins by kind and name, with the distribution that each comes from."""

import difflib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol

from hpcsched.dispatching.objective import Objective
from hpcsched.errors import PluginError
from hpcsched.parameters import Params
from hpcsched.system.system import System
from hpcsched.workload.partitions import Partitions

KINDS = MappingProxyType(
    {
        "trace_source": "where jobs come from",
        "transform": "changes a trace before anything else sees it",
        "predictor": "says how long a job will run",
        "correction": "says what a job needs that outlives its prediction",
        "dispatcher": "decides when and where jobs start",
        "queue_order": "how a queue is sorted",
        "allocator": "decides on which nodes a job is placed",
        "solver": "solves the models of constraint programming",
        "objective": "what a scenario wants to be small",
        "metric": "one figure of the summary",
        "observer": "follows a simulation",
        "workload_manager": "reads a real cluster, and places jobs on it",
        "executor": "runs the cells of an experiment",
    }
)
"""The kinds of plugin, with what each is for."""

SEES_RUN_TIME = "sees_run_time"
"""The capability, for predictors alone, of being shown a job's real run time at submission."""

KEEPS_REQUESTS = "keeps_requests"
"""The capability, for transforms alone, of leaving as it is what job units ask for, and where they
may run. Where all units ask for the same, it is known then that they still do."""

KEEPS_WAITS = "keeps_waits"
"""The capability, for transforms alone, of leaving a part of the trace as it was: submissions are
as far from each other as before, and jobs as large, so that recorded starts still fit together."""

RECORDS_WAITS = "records_waits"
"""The capability, for trace sources alone, of telling how long jobs waited (`keep_waits`)."""

FOLLOWS_RECORD = "follows_record"
"""The capability, for dispatchers alone, of starting jobs when a log says (`follow_record`)."""

PLANS_OFFLINE = "plans_offline"
"""The capability, for dispatchers alone, of planning a whole trace (`plan_offline`)."""


class Context(Protocol):
    """What a factory may use beside its own parameters."""

    @property
    def system(self) -> System:
        """The scenario's system."""

    @property
    def partitions(self) -> Partitions:
        """The scenario's partitions, maybe none; they tell to which of them a job belongs."""

    @property
    def objective(self) -> Objective:
        """The scenario's objective."""

    @property
    def seed(self) -> int:
        """A seed for this plugin alone, spawned from the scenario's."""

    @property
    def folder(self) -> Path:
        """The run directory, for observers that write a file of their own."""

    def make(self, kind: str, choice: Any) -> Any:
        """Return what another plugin builds, chosen by a field marked with `Selects(kind)`."""


@dataclass(frozen=True, slots=True)
class Caution:
    """What a reviewer should know of a legal choice: `key` is a path within the parameters.

    It is an error where the choice cannot be run on this machine.
    """

    rule: str
    message: str
    key: str = ""
    severity: Literal["error", "warning"] = "warning"


@dataclass(frozen=True, slots=True)
class Plugin:
    """A name that a scenario can select, the model of its parameters, and what builds it.

    `summary` is one line for people. `factory` takes the validated parameters and a `Context` and
    returns an object that follows the protocol of the kind. `review`, if given, is asked for
    cautions about parameters that are legal and suspicious.
    """

    name: str
    summary: str
    factory: Callable[[Any, Context], object]
    params: type[Params] = Params
    capabilities: frozenset[str] = frozenset()
    review: Callable[[Any, System], Iterable[Caution]] | None = None


@dataclass(frozen=True, slots=True)
class Installed:
    """A plugin with its kind and the distribution that brought it."""

    kind: str
    plugin: Plugin
    distribution: str
    version: str


@dataclass(frozen=True)
class Registry:
    """All installed plugins; names are unique within a kind."""

    entries: dict[tuple[str, str], Installed] = field(default_factory=dict)

    def add(self, installed: Installed) -> None:
        """Register a plugin; raises PluginError when its kind has one of that name."""
        key = (installed.kind, installed.plugin.name)
        other = self.entries.get(key)
        if other is not None:
            raise PluginError(
                f"plugin clash: {installed.distribution} {installed.version} and"
                f" {other.distribution} {other.version} both register"
                f" the {installed.kind} {installed.plugin.name!r}"
            )
        self.entries[key] = installed

    def of_kind(self, kind: str) -> list[Installed]:
        """Return the plugins of a kind, by name."""
        return [self.entries[key] for key in sorted(self.entries) if key[0] == kind]

    def get(self, kind: str, name: str) -> Installed:
        """Return a plugin; raises KeyError with what there is to choose from."""
        try:
            return self.entries[kind, name]
        except KeyError:
            names = [installed.plugin.name for installed in self.of_kind(kind)]
            close = difflib.get_close_matches(name, names, n=1)
            hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(names)}"
            raise KeyError(f"no {kind} is called {name!r}; {hint}") from None

    def __iter__(self) -> Iterator[Installed]:
        order = list(KINDS)
        return iter(
            sorted(self.entries.values(), key=lambda i: (order.index(i.kind), i.plugin.name))
        )
