"""Choices of the core for the parts of a simulation."""

from hpcsched._core import Allocator, Choices, Correction, OrderKind
from hpcsched.dispatching.rules.core_allocators import ALLOCATORS, scarce_resource_mask
from hpcsched.dispatching.rules.core_rules import CoreRule
from hpcsched.dispatching.rules.multifactor import MultifactorOrder
from hpcsched.dispatching.rules.orders import ArrivalOrder, KeyOrder, QueueOrder
from hpcsched.prediction.corrections import Doubling, OneSecond, ToRequestedTime
from hpcsched.simulation.listeners import listeners
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.order_keys import BY_WAIT
from hpcsched.simulation.parts import Parts

KNOWN_CORRECTIONS = {
    OneSecond: Correction.ONE_SECOND,
    Doubling: Correction.DOUBLING,
    ToRequestedTime: Correction.TO_REQUESTED_TIME,
}


def obstacles(parts: Parts) -> list[str]:
    """Return the parts of a simulation that need Python at each event, in words.

    Empty if none does. Observers are not looked at; see `needs_reasons`.
    """
    dispatcher = parts.dispatcher
    if not isinstance(dispatcher, CoreRule):
        return [f"the dispatcher {parts.dispatcher_name}"]
    found = []
    if type(dispatcher.allocator) not in ALLOCATORS:
        found.append(f"the allocator {type(dispatcher.allocator).__name__}")
    for order in orders_of(dispatcher):
        if type(order) not in (ArrivalOrder, KeyOrder, *BY_WAIT, MultifactorOrder):
            found.append(f"the queue order {type(order).__name__}")
    return found


def needs_reasons(observer: Observer) -> bool:
    """Return True if an observer wants reasons, which compiled replays do not give."""
    return bool(listeners((observer,), ()).explained)


def orders_of(rule: CoreRule) -> tuple[QueueOrder, QueueOrder]:
    """Return the order of a queue, and the order behind the head job."""
    return rule.order, rule.backfill_order or ArrivalOrder()


def choices_of(parts: Parts, *, places: bool) -> Choices:
    """Return the choices of a replay; with `places` it records the nodes of jobs."""
    dispatcher = parts.dispatcher
    assert isinstance(dispatcher, CoreRule)
    order, behind = orders_of(dispatcher)
    return Choices(
        dispatcher.rule,
        allocator=ALLOCATORS[type(dispatcher.allocator)],
        correction=KNOWN_CORRECTIONS.get(type(parts.correction), Correction.ASKED_FOR),
        writes_places=places,
        order=_kind(order),
        behind_order=_kind(behind),
        scarce=scarce_resource_mask(parts.system, dispatcher.allocator),
        **dispatcher.options,
    )


def _kind(order: QueueOrder) -> OrderKind:
    if type(order) is MultifactorOrder:
        return OrderKind.BY_PRIORITY
    return OrderKind.BY_WAIT if type(order) in BY_WAIT else OrderKind.BY_KEYS


def counts_slots(parts: Parts, choices: Choices) -> bool:
    """Return True if all units are alike and take the lowest slots, so that counting is enough."""
    # Which slots are taken decides on nothing, so that other allocators may look at nodes.
    counts = parts.uniform_request is not None and choices.allocator == Allocator.FIRST_FIT
    return counts and not parts.outages.all and not parts.system.shared_resources
