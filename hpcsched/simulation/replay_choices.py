"""Choices of the core for the parts of a simulation."""

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.core.state import Choices
from hpcsched.dispatching.dispatcher_protocol import Dispatcher
from hpcsched.dispatching.rules.allocator_codes import ALLOCATORS, scarce_resource_mask
from hpcsched.dispatching.rules.conservative import COMPRESSIONS, Conservative
from hpcsched.dispatching.rules.easy import Easy
from hpcsched.dispatching.rules.list_scheduling import OPTIONS, ListScheduler
from hpcsched.dispatching.rules.orders import ArrivalOrder, KeyOrder, QueueOrder
from hpcsched.dispatching.rules.relaxed import Relaxed
from hpcsched.dispatching.rules.slack import SlackBased
from hpcsched.prediction.corrections import Doubling, OneSecond, ToRequestedTime
from hpcsched.simulation.listeners import listeners
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.order_keys import BY_WAIT
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_orders import IN_PYTHON

_RULES = (Easy, ListScheduler, Relaxed, Conservative, SlackBased)
KNOWN_CORRECTIONS = {
    OneSecond: codes.ONE_SECOND,
    Doubling: codes.DOUBLING,
    ToRequestedTime: codes.TO_REQUESTED_TIME,
}

DECIDED_IN_PYTHON = Choices(codes.IN_PYTHON, -1, False, codes.FIRST_FIT, codes.ASKED_FOR, False)
"""Choices of a replay whose dispatcher is asked in Python."""


def obstacles(parts: Parts) -> list[str]:
    """Return the parts of a simulation that need Python at each event, in words.

    Empty if none does. Observers are not looked at; see `needs_reasons`.
    """
    dispatcher = parts.dispatcher
    if type(dispatcher) not in _RULES:
        return [f"the dispatcher {parts.dispatcher_name}"]
    assert isinstance(dispatcher, Easy | ListScheduler | Conservative)
    found = []
    if type(dispatcher.allocator) not in ALLOCATORS:
        found.append(f"the allocator {type(dispatcher.allocator).__name__}")
    for order in orders_of(dispatcher):
        if type(order) not in (ArrivalOrder, KeyOrder, *BY_WAIT, *IN_PYTHON):
            found.append(f"the queue order {type(order).__name__}")
    return found


def needs_reasons(observer: Observer) -> bool:
    """Return True if an observer wants reasons, which compiled replays do not give."""
    return bool(listeners((observer,), ()).explained)


def orders_of(dispatcher: Dispatcher) -> tuple[QueueOrder, QueueOrder]:
    """Return the order of a queue, and the order behind the head job."""
    behind = dispatcher.backfill_order if isinstance(dispatcher, Easy | ListScheduler) else None
    order = dispatcher.order if isinstance(dispatcher, Easy | ListScheduler) else ArrivalOrder()
    return order, ArrivalOrder() if behind is None else behind


def choices_of(parts: Parts, *, places: bool) -> Choices:
    """Return the choices of a replay; with `places` it records the nodes of jobs."""
    dispatcher = parts.dispatcher
    assert isinstance(dispatcher, Easy | ListScheduler | Conservative)
    order, behind = orders_of(dispatcher)
    choices = Choices(
        codes.EASY,
        -1,
        not isinstance(dispatcher, Conservative) and dispatcher.backfill_order is not None,
        ALLOCATORS[type(dispatcher.allocator)],
        KNOWN_CORRECTIONS.get(type(parts.correction), codes.ASKED_FOR),
        places,
        by_wait=_by_wait(order),
        behind_by_wait=_by_wait(behind),
        scarce=scarce_resource_mask(parts.system, dispatcher.allocator),
    )
    # `Easy` alone needs no more; its subclasses and the other rules have parameters.
    match dispatcher:
        case ListScheduler():
            depth = -1 if dispatcher.depth is None else min(dispatcher.depth, codes.NEVER)
            return choices._replace(rule=OPTIONS[dispatcher.option], depth=depth)
        case Relaxed():
            return choices._replace(rule=codes.RELAXED, relaxation=float(dispatcher.relaxation))
        case SlackBased():
            return choices._replace(
                rule=codes.SLACK,
                compression=COMPRESSIONS[dispatcher.compression],
                slack_share=float(dispatcher.share),
                least_slack=dispatcher.least_slack,
            )
        case Conservative():
            compression = COMPRESSIONS[dispatcher.compression]
            return choices._replace(rule=codes.CONSERVATIVE, compression=compression)
    return choices


def _by_wait(order: QueueOrder) -> bool | None:
    """Return True for an order by wait, False for one that Python works out, None for others."""
    if type(order) in IN_PYTHON:
        return False
    return True if type(order) in BY_WAIT else None


def counts_slots(parts: Parts, choices: Choices) -> bool:
    """Return True if all units are alike and take the lowest slots, so that counting is enough."""
    # Which slots are taken decides on nothing, so that other allocators may look at nodes.
    counts = parts.uniform_request is not None and choices.allocator == codes.FIRST_FIT
    return counts and not parts.outages.all and not parts.system.shared_resources
