"""How `order-search` is put together."""

from types import SimpleNamespace
from typing import Any

from hpcsched.dispatching.objectives import AF
from hpcsched.dispatching.offline.order_search_dispatcher import make_order_search
from hpcsched.dispatching.search.params import OrderSearchParams, SurrogateParams
from tests.builders import ALLOCATORS, ORDERS


def made(**given: Any) -> Any:
    """Return the dispatcher for some parameters and the objective AF."""
    choices = {"queue_order": ORDERS, "allocator": ALLOCATORS}
    context: Any = SimpleNamespace(
        objective=AF(), seed=1, make=lambda kind, choice: choices[kind][choice]
    )
    return make_order_search(OrderSearchParams(**given), context)


def test_parameters_reach_their_parts() -> None:
    """Orders, allocator, number of jobs and budget are those that are given."""
    dispatcher = made(orders=["sjf", "laf"], allocator="first-fit", queue_length=7, priority="saf")
    assert dispatcher.orders == (ORDERS["sjf"], ORDERS["laf"])
    assert dispatcher.allocator is ALLOCATORS["first-fit"]
    assert dispatcher.priority is ORDERS["saf"]
    assert dispatcher.options.length == 7


def test_plans_are_kept_where_waits_far_ahead_count_in_full() -> None:
    """With a time constant the plan of the round before says little."""
    assert made(surrogate_objective=SurrogateParams()).keeps
    assert not made(surrogate_objective=SurrogateParams(discount_time_constant=600)).keeps
