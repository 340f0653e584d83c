"""The product of a factory has the members of its kind of plugin, with the right arguments."""

import inspect
from importlib import import_module

import pytest

from hpcsched.errors import PluginError
from hpcsched.plugin_faults import PluginOrigin
from hpcsched.plugins.plugin_checks import MEMBERS, OPTIONAL, check_product
from hpcsched.registration import KINDS

PROTOCOLS = {
    "trace_source": "hpcsched.workload.trace_source:TraceSource",
    "transform": "hpcsched.workload.transform:Transform",
    "correction": "hpcsched.prediction.predictor:Correction",
    "dispatcher": "hpcsched.dispatching.problem:Dispatcher",
    "queue_order": "hpcsched.dispatching.rules.orders:QueueOrder",
    "allocator": "hpcsched.dispatching.allocator:Allocator",
    "objective": "hpcsched.dispatching.problem:Objective",
    "metric": "hpcsched.metrics.metric:Metric",
    "observer": "hpcsched.simulation.observer:Observer",
    "workload_manager": "hpcsched.system.cluster:WorkloadManager",
    "executor": "hpcsched.studies.executors.executor:Executor",
}


def test_each_kind() -> None:
    """No kind is left out."""
    assert set(MEMBERS) == set(KINDS)
    assert set(OPTIONAL) <= set(KINDS)


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_members_are_those_of_the_protocol(kind: str) -> None:
    """Names and arguments are those that the reference of hooks shows."""
    module, _, name = PROTOCOLS[kind].partition(":")
    protocol = getattr(import_module(module), name)
    shown = {
        name: tuple(inspect.signature(value).parameters)[1:] if callable(value) else None
        for name, value in vars(protocol).items()
        if not name.startswith("_")
    }
    assert dict(MEMBERS[kind]) == shown


def check(built: object, kind: str, distribution: str = "acme") -> None:
    """Check the product of a plugin `mine`."""
    check_product(built, PluginOrigin(kind, "mine", distribution, "2.0"))


class Predicts:
    """A predictor."""

    def predict(self, job):
        """Return 5 s."""
        return 5

    def observe(self, job, run_time, *_more):
        """Learn."""


def test_complete() -> None:
    """More arguments that need not be given do no harm."""
    check(Predicts(), "predictor")


def test_optional_method() -> None:
    """A method that need not be there is checked where it is."""

    class Costs:
        def measure(self, jobs):
            return 1.0

        def planned_cost(self, jobs):
            return None

    expected = r"^objective mine \(acme 2.0\): expected a method planned_cost\(jobs, now\), found"
    with pytest.raises(PluginError, match=rf"{expected} planned_cost\(jobs\)$"):
        check(Costs(), "objective")
    check(Costs(), "objective", "hpcsched")


def test_no_method() -> None:
    """An attribute in place of a method."""
    with pytest.raises(PluginError, match=r"a method dispatch\(problem\), found 5"):
        check(type("Five", (), {"dispatch": 5})(), "dispatcher")
