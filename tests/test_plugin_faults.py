"""Which plugin is at fault, and how messages name it."""

import gc
from typing import NamedTuple

import pytest

from hpcsched.errors import Finding, InputError, PluginError
from hpcsched.plugin_faults import (
    PluginOrigin,
    culprit,
    is_third_party,
    named,
    origin_of,
    plugin_faults_named,
    remember,
)

INNER = PluginOrigin("queue_order", "mine", "acme", "2.0")
OUTER = PluginOrigin("dispatcher", "other", "emca", "1.0")
BUNDLED = PluginOrigin("allocator", "first-fit", "hpcsched", "0.2.0")


class Order:
    """A plugin that fails."""

    def sort(self) -> None:
        """Fail."""
        raise KeyError("weights")


class Dispatcher:
    """A plugin that calls another."""

    def __init__(self, inner: Order) -> None:
        self._inner = inner

    def dispatch(self) -> None:
        """Call it."""
        self._inner.sort()


class Small(NamedTuple):
    """A plugin that cannot be referred to weakly."""

    number: int


def test_names() -> None:
    """Kind, name and distribution; bundled plugins have none, and unknown objects their class."""
    order, allocator = Order(), Order()
    remember(order, INNER)
    remember(allocator, BUNDLED)
    assert named("queue_order", order) == "queue order mine (acme 2.0)"
    assert named("allocator", allocator) == "allocator first-fit"
    assert named("predictor", Order()) == "predictor Order"
    assert named("predictor", Order(), "it") == "predictor it"
    assert named("dispatcher", order, "it") == "dispatcher it"
    assert (is_third_party(order), is_third_party(allocator)) == (True, False)


def test_forgotten_with_the_object() -> None:
    """Another object at the same place is not taken for it."""
    order = Order()
    remember(order, INNER)
    place = id(order)
    del order
    gc.collect()
    others = [Order() for _ in range(100)]
    assert all(origin_of(other) is None for other in others if id(other) == place)


def test_objects_without_weak_references() -> None:
    """They are known by their class."""
    remember(Small(1), OUTER)
    assert origin_of(Small(7)) == OUTER


def test_the_innermost_is_at_fault() -> None:
    """A dispatcher that asks an order which fails is not at fault."""
    order = Order()
    dispatcher = Dispatcher(order)
    remember(dispatcher, OUTER)
    with pytest.raises(KeyError) as caught:
        dispatcher.dispatch()
    assert culprit(caught.value) == OUTER
    remember(order, INNER)
    assert culprit(caught.value) == INNER
    remember(order, BUNDLED)
    assert culprit(caught.value) == OUTER


def test_named_in_a_block() -> None:
    """An exception in a plugin is turned into one that names it; all others pass."""
    order = Order()
    remember(order, INNER)
    with (
        pytest.raises(PluginError, match=r"^queue order mine \(acme 2.0\): raised KeyError: 'weig"),
        plugin_faults_named(),
    ):
        order.sort()
    with pytest.raises(ZeroDivisionError), plugin_faults_named():
        raise ZeroDivisionError
    with pytest.raises(InputError), plugin_faults_named():
        raise InputError(Finding("bad", "it is bad"))
