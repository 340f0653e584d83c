"""The dispatchers that follow rules, made for tests; one with a memory is made for each replay."""

from collections.abc import Callable, Mapping
from typing import Any

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.dispatching.rules.allocators import Balanced, Hybrid, Weighted
from hpcsched.dispatching.rules.core_rules import CoreRule, list_rule
from hpcsched.dispatching.rules.orders import ExpectedWaitOrder
from tests.builders import (
    ALLOCATORS,
    ORDERS,
    conservative_rule,
    easy_rule,
    lists,
    relaxed_rule,
    slack_rule,
)

Make = Callable[[], Dispatcher]

WAITS = ExpectedWaitOrder(60, {1: 20, 2: 100})
PLACERS: Mapping[str, Any] = {
    **ALLOCATORS,
    "balanced": Balanced(),
    "weighted": Weighted(),
    "hybrid": Hybrid(),
}


def prb() -> CoreRule:
    """Return the priority rule with best fit."""
    return list_rule(WAITS, "greedy", ALLOCATORS["best-fit"])


def easy(order: str = "fcfs", behind: str | None = None, allocator: str = "first-fit") -> CoreRule:
    """Return EASY in an order, and in another behind the head job."""
    backfill_order = None if behind is None else ORDERS[behind]
    return easy_rule(PLACERS[allocator], ORDERS[order], backfill_order)


def relaxed(
    relaxation: float,
    allocator: str = "first-fit",
    order: str = "fcfs",
    behind: str | None = None,
) -> CoreRule:
    """Return relaxed backfilling in an order, and in another behind the head job."""
    backfill_order = None if behind is None else ORDERS[behind]
    return relaxed_rule(PLACERS[allocator], relaxation, ORDERS[order], backfill_order)


def conservative(compression: Any = "arrival", allocator: str = "first-fit") -> CoreRule:
    """Return conservative backfilling."""
    return conservative_rule(PLACERS[allocator], compression)


def slack(
    share: float = 0.0,
    least: int = 0,
    allocator: str = "first-fit",
    compression: Any = "arrival",
) -> CoreRule:
    """Return slack-based backfilling."""
    return slack_rule(PLACERS[allocator], share, least, compression)


MAKERS: Mapping[str, Make] = {
    "strict": lambda: lists("saf", "strict"),
    "greedy": lambda: lists("sjf", "greedy"),
    "committed": lambda: lists("sjf", "committed"),
    "committed, with backfilling": lambda: lists("saf", "committed-backfill"),
    "list": lists,
    "list to depth 0": lambda: lists(depth=0),
    "list to depth 2": lambda: lists("ljf", depth=2, allocator="keep-scarce"),
    "prb": prb,
    "easy": easy,
    "easy, other orders": lambda: easy("saf", "ljf", "best-fit"),
    "easy, shortest behind": lambda: easy(behind="sjf", allocator="balanced"),
    "relaxed": lambda: relaxed(0.5),
    "relaxed, other order": lambda: relaxed(2.0, "hybrid", "sjf"),
    "conservative": conservative,
    "conservative, by reservation": lambda: conservative("reservation", "weighted"),
    "slack": lambda: slack(0.5, 1),
    "no slack": slack,
    "much slack": lambda: slack(2.0, 5, "keep-scarce"),
}
"""Every rule and option that there is."""
