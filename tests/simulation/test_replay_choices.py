"""What the core decides by itself, and by which choices."""

from typing import Any

import pytest

from hpcsched._core import Correction, OrderKind, Rule
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.orders import ArrivalOrder, slowdown_order
from hpcsched.prediction.predictor import Doubling
from hpcsched.runs.observers import ReasonRecorder
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.replay_choices import (
    choices_of,
    needs_reasons,
    obstacles,
    orders_of,
)
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.system import Request
from tests.builders import ORDERS, Spy, alike, conservative_rule, easy, easy_rule, lists, parts

SYSTEM = alike(2, core=2)


class MyAllocator(FirstFit):
    """An allocator of somebody's own."""


class MyOrder(ArrivalOrder):
    """A queue order of somebody's own."""


@pytest.mark.parametrize(
    ("dispatcher", "found"),
    [
        (easy(), []),
        (lists("sjf"), []),
        (easy_rule(FirstFit(), slowdown_order()), []),
        (Spy(easy(), print), ["the dispatcher tested"]),
        (easy_rule(MyAllocator()), ["the allocator MyAllocator"]),
        (easy_rule(FirstFit(), MyOrder()), ["the queue order MyOrder"]),
        (easy_rule(FirstFit(), None, MyOrder()), ["the queue order MyOrder"]),
    ],
)
def test_what_needs_python(dispatcher: Any, found: list[str]) -> None:
    """It is named."""
    assert obstacles(parts(SYSTEM, dispatcher)) == found


def test_observers_that_want_reasons() -> None:
    """Only those that have the method for them."""
    assert needs_reasons(ReasonRecorder.__new__(ReasonRecorder))
    assert not needs_reasons(Observer())


def test_orders() -> None:
    """Without an order of its own, what is behind the head job is in order of arrival."""
    sjf = ORDERS["sjf"]
    assert orders_of(easy_rule(FirstFit(), sjf, sjf)) == (sjf, sjf)
    order, behind = orders_of(easy_rule(FirstFit(), sjf))
    assert order is sjf
    assert isinstance(behind, ArrivalOrder)


@pytest.mark.parametrize(
    ("dispatcher", "rule", "depth", "kind"),
    [
        (easy(), Rule.EASY, -1, OrderKind.BY_KEYS),
        (easy_rule(FirstFit(), slowdown_order()), Rule.EASY, -1, OrderKind.BY_WAIT),
        (lists("sjf", "greedy"), Rule.GREEDY, -1, OrderKind.BY_KEYS),
        (lists("fcfs", "backfill", 3), Rule.BACKFILL, 3, OrderKind.BY_KEYS),
        (conservative_rule(FirstFit()), Rule.CONSERVATIVE, -1, OrderKind.BY_KEYS),
    ],
)
def test_rules(dispatcher: Any, rule: Rule, depth: int, kind: OrderKind) -> None:
    """The rule of each, with its parameters."""
    choices = choices_of(parts(SYSTEM, dispatcher, correction=Doubling()), places=True)
    assert (choices.rule, choices.depth, choices.order) == (rule, depth, kind)
    assert choices.correction == Correction.DOUBLING


def test_where_counting_is_enough() -> None:
    """All units alike, and no outages."""
    alike_units = parts(SYSTEM, easy(), uniform_request=(1,))
    closed = Outages((Outage(0, 1, (0,), "failure"),))
    assert alike_units.equal_unit == Request(1, (1,))
    for other in (
        alike_units._replace(uniform_request=None),
        alike_units._replace(outages=closed),
    ):
        assert other.equal_unit is None
    assert isinstance(alike_units.dispatcher, CoreRule)
    assert alike_units.dispatcher.rule == Rule.EASY
