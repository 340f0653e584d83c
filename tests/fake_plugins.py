"""A small registry of plugins that do nothing, for tests of what surrounds plugins."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import Field

from hpcsched.parameters import (
    Amount,
    Duration,
    InputPath,
    Listed,
    NotReproducible,
    Params,
    Selects,
)
from hpcsched.plugins.registry import Installed, Registry
from hpcsched.registration import SEES_RUN_TIME, Caution, Context, Plugin
from hpcsched.system.system import System


class FileParams(Params):
    """A trace in a file."""

    path: InputPath = Field(description="The file.")
    unit: dict[str, Amount] = Field(description="What a unit asks for.")
    jobs: int | None = Field(default=None, ge=1, description="The first so many jobs only.")


class SyntheticParams(Params):
    """A trace out of nothing."""

    length: Duration = Field(default=3600, description="Seconds of trace.")
    rates: Annotated[tuple[float, ...], Listed] = Field(default=(1.0,), description="Jobs per s.")


class ListParams(Params):
    """A dispatcher with choices of its own."""

    order: Annotated[Any, Selects("queue_order")] = Field(default="fcfs", description="The order.")
    allocator: Annotated[Any, Selects("allocator")] = Field(
        default="first-fit", description="Where jobs go."
    )
    option: Literal["strict", "greedy"] = Field(default="strict", description="What may overtake.")
    depth: int | None = Field(default=None, ge=1, description="How many jobs are considered.")
    seconds: Annotated[float | None, NotReproducible("it is limited by the clock")] = Field(
        default=None, description="A limit in seconds."
    )


class Member(Params):
    """One of several dispatchers."""

    weight: float = Field(default=1.0, description="Its weight.")
    use: Annotated[Any, Selects("dispatcher")] = Field(default="easy", description="It.")


class BestOfParams(Params):
    """A dispatcher made of dispatchers."""

    members: Annotated[tuple[Member, ...], Listed] = Field(description="The dispatchers.")
    limit: int | Literal["none"] = Field(default="none", description="A number, or none.")


class EndlessParams(Params):
    """A dispatcher whose default is itself."""

    inner: Annotated[Any, Selects("dispatcher")] = Field(default="endless", description="It.")


class TauParams(Params):
    """What bounds a slowdown."""

    tau: Duration = Field(default=10, description="Seconds below which run times do not count.")


class WeightParams(Params):
    """Parameters of a queue order."""

    weight: int = Field(default=1, ge=0, description="A weight.")


def _make(params: Any, _context: Context) -> object:
    return params


def _review(params: ListParams, system: System) -> Iterable[Caution]:
    if params.depth is not None and params.depth > system.node_count:
        yield Caution("deep", "the depth is beyond the number of nodes", "depth")


_PLUGINS = {
    "trace_source": [
        Plugin("file", "Jobs of a file.", _make, FileParams),
        Plugin("synthetic", "Jobs out of nothing.", _make, SyntheticParams),
    ],
    "predictor": [
        Plugin("requested-time", "Believes the user.", _make),
        Plugin("actual", "Knows.", _make, capabilities=frozenset({SEES_RUN_TIME})),
    ],
    "correction": [Plugin("one-second", "One more second.", _make)],
    "dispatcher": [
        Plugin("list", "Goes through a list.", _make, ListParams, review=_review),
        Plugin("easy", "Backfills.", _make),
        Plugin("best-of", "Asks several.", _make, BestOfParams),
        Plugin("endless", "Asks itself.", _make, EndlessParams),
    ],
    "queue_order": [
        Plugin("fcfs", "First come, first served.", _make),
        Plugin("weighted", "By weight.", _make, WeightParams),
    ],
    "allocator": [Plugin("first-fit", "The first that fits.", _make)],
    "objective": [
        Plugin("bounded_slowdown", "Bounded slowdown.", _make, TauParams),
        Plugin("makespan", "The last end.", _make),
    ],
    "metric": [
        Plugin("mean_bounded_slowdown", "Mean bounded slowdown.", _make, TauParams),
        Plugin("makespan", "The last end.", _make),
    ],
    "observer": [Plugin("progress", "Shows progress.", _make)],
}


def fake_registry() -> Registry:
    """Return a registry with a few plugins of every kind."""
    registry = Registry()
    for kind, plugins in _PLUGINS.items():
        for plugin in plugins:
            registry.add(Installed(kind, plugin, "fakes", "1.0"))
    return registry
