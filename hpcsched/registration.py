"""Registration of plugins: their description, and the decorator of built-in ones."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeVar

from hpcsched.parameters import Params

# Registration stands below the packages whose types it names, so it must not import them.
if TYPE_CHECKING:
    from hpcsched.dispatching.problem import Objective
    from hpcsched.system.system import System
    from hpcsched.workload.site_partitions import Partitions
    from hpcsched.workload.site_policies import SitePolicies

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
        "objective": "quantity to minimise",
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
"""The capability, for transforms alone, of leaving requests and eligible nodes as they are."""

KEEPS_WAITS = "keeps_waits"
"""The capability, for transforms alone, of keeping recorded starts a schedule of what remains."""

RECORDS_WAITS = "records_waits"
"""The capability, for trace sources alone, of telling how long jobs waited (`keep_waits`)."""

FOLLOWS_RECORD = "follows_record"
"""The capability, for dispatchers alone, of starting jobs when a log says (`follow_record`)."""

PLANS_OFFLINE = "plans_offline"
"""The capability, for dispatchers alone, of planning a whole trace (`plan_offline`)."""

NEEDS_DEVICES = "needs_devices"
"""The capability, for metrics alone, of being measured where nodes have devices, and only there."""


@dataclass(frozen=True, slots=True)
class Caution:
    """A finding of a plugin's review about a legal choice.

    It is an error where the choice cannot be run on this machine.

    Attributes
    ----------
    key : str
        The key path within the plugin's parameters; empty for the choice as a whole.
    """

    rule: str
    message: str
    key: str = ""
    severity: Literal["error", "warning"] = "warning"


class Context(Protocol):
    """The parts of a scenario that a factory may use beside its own parameters."""

    @property
    def system(self) -> "System":
        """System of the scenario."""

    @property
    def partitions(self) -> "Partitions":
        """Partitions of the scenario, maybe none."""

    @property
    def policies(self) -> "SitePolicies":
        """QOS and accounts of the scenario, maybe none."""

    @property
    def objective(self) -> "Objective":
        """Objective of the scenario."""

    @property
    def seed(self) -> int:
        """Seed for this plugin alone, spawned from the scenario's."""

    @property
    def folder(self) -> Path:
        """Run directory, for observers that write a file of their own."""

    def make(self, kind: str, choice: Any) -> Any:
        """Build another plugin, chosen by a field marked with `Selects(kind)`."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A name that a scenario can select, the model of its parameters, and its factory.

    Attributes
    ----------
    factory : function
        Takes the parameters and a `Context`; returns an object of the protocol of the kind.
    review : function, optional
        Takes the parameters and the system; yields cautions about suspicious parameters.
    """

    name: str
    summary: str
    factory: Callable[[Any, Context], object]
    params: type[Params] = Params
    capabilities: frozenset[str] = frozenset()
    review: Callable[[Any, "System"], Iterable[Caution]] | None = None
    aliases: tuple[str, ...] = ()


class Command(NamedTuple):
    """A command that a package adds to the command line; it is imported when it is named.

    Attributes
    ----------
    name : str
        The words behind `hpcsched`: `live`, or `trace system-from` for one of the group `trace`.
    made_by : str
        A reference such as `module:name` to a function for typer, or to a `typer.Typer`.
    panel : str
        Panel of `--help`: Start, Run, Look, Study, Site, Extend, or one of its own.
    """

    name: str
    made_by: str
    panel: str = "Other packages"


class BuiltIn(NamedTuple):
    """The registration of a built-in plugin; objects are references such as `module:Name`."""

    kind: str
    name: str
    summary: str
    made_by: str
    params: str
    review: str | None = None
    capabilities: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


_Made = TypeVar("_Made", bound=Callable[..., object])


def builtin(
    kind: str | tuple[str, ...],
    name: str,
    params: type[Params] = Params,
    *,
    summary: str | None = None,
    capabilities: Iterable[str] = (),
    review: Callable[[Any, Any], Iterable[Caution]] | None = None,
    aliases: Iterable[str] = (),
) -> Callable[[_Made], _Made]:
    """Mark the decorated class or function as a built-in plugin.

    A function is the factory: it takes the parameters and a `Context`. A class is built by its
    class method `build`, which takes the same; without one the class is called with its parameters,
    if it has any, and with those of `context`, `system` and `folder` that its initialiser names.
    The index reads the decorators as text, so their arguments are literals and names of the module;
    after a change of any it has to be written anew: `python -m hpcsched.plugins.index`.

    Parameters
    ----------
    kind : str or tuple of str
        Several if the name stands for one thing of each; aliases are those of the first kind.
    summary : str, optional
        What follows the first colon in the first line of the docstring, if that is not enough.
    """
    return lambda made: made
