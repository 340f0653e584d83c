"""States of the compiled core: systems, requests and outages in its form."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np

from hpcsched._core import Choices, DeviceRequest, State
from hpcsched.system.outages import Outage, Outages
from hpcsched.system.shared_resources import NEVER, period_of, settled_from
from hpcsched.system.space import Amounts, node_draw, own_draw, units_on_idle
from hpcsched.system.system import NOT_SCORED, IntArray, Request, ShapeKey, System, shape_key
from hpcsched.workload.preemption import PREEMPT_MODES, RELEASED, Preemption

_MOST_DRAWS = 4096
"""Number of draws that are cached."""


def new_state(
    system: System,
    choices: Choices,
    *,
    first_slot: Iterable[int] = (0,),
    rounds: int = 1,
    **options: Any,
) -> State:
    """Return the state of an idle system.

    Parameters
    ----------
    first_slot
        First slot of each node, and the number of slots, where all units are equal and counted;
        `[0]` where units are placed node by node.
    rounds
        Number of periods of shared resources after which decisions have seen all capacities.
    """
    capacity = system.capacity
    if system.devices is not None:
        capacity = np.concatenate((capacity, system.device_capacity), axis=1)
        options["types"] = len(system.resource_types)
    state = State(capacity, numbers(first_slot), choices, **options)
    shared = system.shared_resources
    if shared:
        changes = [change for resource in shared for change in resource.changes]
        state.set_shared_resources(
            capacity=numbers([resource.capacity for resource in shared]),
            first=numbers([0, *accumulate(len(resource.changes) for resource in shared)]),
            at=numbers([change.at for change in changes]),
            offer=numbers([change.capacity for change in changes]),
            every=numbers([resource.every or 0 for resource in shared]),
            period=period_of(shared),
            settled=settled_from(shared),
            node=numbers(node_draw(system)),
            rounds=rounds,
        )
    return state


def set_outages(state: State, outages: Outages) -> None:
    """Write the outages of a replay."""
    announce(state, sorted(outage for outage in outages.all if outage.announced))
    changes = [(outage.start, 1, outage.nodes) for outage in outages.all]
    changes += [(outage.end, -1, outage.nodes) for outage in outages.all]
    changes.sort(key=lambda change: change[0])
    first, nodes = _node_lists([of for _, _, of in changes])
    state.set_outages(
        numbers([time for time, _, _ in changes]),
        numbers([sign for _, sign, _ in changes]),
        first,
        nodes,
        outages.requeue,
    )


def set_preemption(state: State, preemption: Preemption, types: Sequence[str]) -> None:
    """Write the rules of preemption, for the resource types of the system."""
    state.ranks = True
    if not preemption.classes:
        return
    classes = [
        (PREEMPT_MODES.index(one.mode), one.exempt, one.grace, one.priority)
        for one in preemption.classes
    ]
    state.set_preemption(
        np.array(preemption.may_preempt, dtype=np.bool_),
        np.array(classes, dtype=np.int64),
        np.array([name == RELEASED for name in types]),
        preemption.by == "priority",
        preemption.youngest_first,
        preemption.requeue_delay,
    )


def announce(state: State, outages: Sequence[Outage]) -> None:
    """Write announced outages, sorted by start."""
    state.announce(
        numbers([outage.start for outage in outages]),
        numbers([outage.end for outage in outages]),
        *_node_lists([outage.nodes for outage in outages]),
    )


class RequestShapes:
    """Shapes of requests in a state, numbered in their order.

    Attributes
    ----------
    asked
        Amounts of a unit of each request, `[S, R]`.
    """

    def __init__(
        self, system: System, *, beside_outages: bool = False, with_scores: bool = False
    ) -> None:
        self._system, self._beside_outages = system, beside_outages
        self._with_scores = with_scores
        self._kinds: dict[ShapeKey, int] = {}
        self._alike: dict[ShapeKey, int] = {}
        self.asked: IntArray = np.empty((0, len(system.resource_types)), dtype=np.int64)

    def add(self, state: State, requests: Sequence[Request]) -> None:
        """Append the shapes of requests."""
        if not requests:
            return
        asked = np.array([request.unit_request for request in requests], dtype=np.int64)
        on_idle = np.stack([units_on_idle(self._system, request) for request in requests])
        self.asked = np.concatenate((self.asked, asked))
        kind: list[int] = []
        allowed = np.empty((0, 0), dtype=np.bool_)
        if self._beside_outages:
            for request in requests:
                key = shape_key(request._replace(allowed_nodes=None))
                kind.append(self._kinds.setdefault(key, len(self._kinds)))
            allowed = np.ones((len(requests), self._system.node_count), dtype=np.bool_)
            for row, request in zip(allowed, requests, strict=True):
                if request.allowed_nodes is not None:
                    row[:] = False
                    row[list(request.allowed_nodes)] = True
        devices = self._devices_of(asked)
        state.add_shapes(
            asked,
            on_idle,
            np.array([request.exclusive for request in requests]),
            np.array([bool(devices) or one.exclusive or one.one_unit_per_node for one in requests]),
            numbers(kind),
            allowed,
            devices,
            [self._alike_to(request) for request in requests] if self._with_scores else [],
        )

    def _alike_to(self, request: Request) -> int:
        """Return a number of all requests that are the same but for memory."""
        pairs = zip(self._system.resource_types, request.unit_request, strict=True)
        amounts = tuple(0 if name == NOT_SCORED else amount for name, amount in pairs)
        key = shape_key(request._replace(unit_request=amounts))
        return self._alike.setdefault(key, len(self._alike))

    def _devices_of(self, asked: IntArray) -> list[DeviceRequest]:
        """Return the devices that a unit of each shape asks for; nothing without devices."""
        devices = self._system.devices
        if devices is None:
            return []
        own = self._system.resource_types.index(devices.resource_type)
        wanted = [devices.asked(amount) for amount in asked[:, own].tolist()]
        return [
            DeviceRequest(one.number, one.amount, devices.parts, one.positions) for one in wanted
        ]


class OwnDraws:
    """Draws of jobs that do not depend on their nodes, cached by request."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._known: dict[tuple[object, ...], Amounts] = {}

    def of(self, requests: Iterable[Request]) -> IntArray:
        """Return the draws of requests, `[J, P]`."""
        found, known = [], self._known
        for request in requests:
            key = request.units, request.unit_request, request.shared_requests
            draw = known.get(key)
            if draw is None:
                if len(known) > _MOST_DRAWS:
                    known.clear()
                # Larger amounts need more than 64 bits, and no shared resource has them.
                amounts = own_draw(self._system, request)
                draw = known[key] = tuple([min(amount, NEVER) for amount in amounts])
            found.append(draw)
        return np.array(found, dtype=np.int64)


def numbers(values: Iterable[int]) -> IntArray:
    """Return numbers as an array."""
    return np.fromiter(values, dtype=np.int64)


def _node_lists(lists: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Concatenate lists; return the begin of each, and the whole."""
    first = numbers([0, *accumulate(map(len, lists))])
    return first, numbers([node for nodes in lists for node in nodes])
