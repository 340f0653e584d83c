"""The context of a scenario, as a factory of a plugin is given it."""

import sys
from pathlib import Path
from typing import Annotated, Any

import pytest

from hpcsched.parameters import Params, Selects
from hpcsched.plugins.spec import hookimpl
from hpcsched.registration import Context, Plugin
from hpcsched.runs.assembly import assemble
from hpcsched.scenario import load_scenario
from hpcsched.testing import UsePlugins, use_plugins

__all__ = ["use_plugins"]

SCENARIO = """\
name: context
seed: {seed}
system: {{groups: [{{name: thin, count: 2, resources: {{core: 4}}}}]}}
partitions: [{{name: all}}]
trace: {{source: swf, path: none.swf}}
dispatcher: {{name: curious, order: {{name: curious-order}}}}
objective: {{name: bounded_slowdown, tau: 30}}
"""


class CuriousParams(Params):
    """Parameters of `curious`."""

    order: Annotated[Any, Selects("queue_order")] = "fcfs"


class Curious:
    """A dispatcher and a queue order that notes what its factory could see."""

    def __init__(self, context: Context) -> None:
        self.seed = context.seed
        self.seen = (context.system, context.partitions, context.objective, context.folder)
        self.order: Any = None

    def dispatch(self, problem: object) -> object:
        """Do nothing."""
        raise NotImplementedError

    def sort(self, *_: object) -> object:
        """Do nothing."""
        raise NotImplementedError


def make_dispatcher(params: CuriousParams, context: Context) -> Curious:
    """Return a dispatcher that builds its order within its own factory."""
    made = Curious(context)
    made.order = context.make("queue_order", params.order)
    # The seed is that of the plugin again, after another one was built within.
    assert context.seed == made.seed
    return made


def make_order(_params: Params, context: Context) -> Curious:
    """Return a queue order."""
    return Curious(context)


@hookimpl
def hpcsched_dispatchers() -> list[Plugin]:
    """Return the dispatcher."""
    return [Plugin("curious", "Looks around.", make_dispatcher, CuriousParams)]


@hookimpl
def hpcsched_queue_orders() -> list[Plugin]:
    """Return the order."""
    return [Plugin("curious-order", "Looks around.", make_order)]


def built(folder: Path, seed: int) -> Curious:
    """Return the dispatcher of a scenario with this seed, built in a run directory."""
    path = folder / "context.yaml"
    path.write_text(SCENARIO.format(seed=seed))
    dispatcher: Any = assemble(load_scenario(path), folder=folder / "run").dispatcher
    return dispatcher


@pytest.fixture(autouse=True)
def _plugins(use_plugins: UsePlugins) -> None:
    use_plugins(sys.modules[__name__])


def test_what_a_factory_sees(tmp_path: Path) -> None:
    """System, partitions, objective and run directory are those of the scenario."""
    dispatcher = built(tmp_path, 1)
    system, partitions, objective, folder = dispatcher.seen
    assert system.totals == (8,)
    assert [partition.name for partition in partitions] == ["all"]
    assert objective.tau == 30
    assert folder == tmp_path / "run"
    assert isinstance(dispatcher.order, Curious)
    # Parts are built once: the plugin within sees the same ones.
    for mine, its in zip(dispatcher.seen, dispatcher.order.seen, strict=True):
        assert mine is its


def test_seeds_of_plugins(tmp_path: Path) -> None:
    """Each plugin has a seed of its own, which follows from the scenario's and nothing else."""
    first, again, other = (built(tmp_path, seed) for seed in (1, 1, 2))
    assert first.seed == again.seed != other.seed
    assert first.order.seed == again.order.seed != other.order.seed
    assert len({1, first.seed, first.order.seed}) == 3
