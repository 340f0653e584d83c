"""Consumption of shared resources by jobs.

A job's own draw does not depend on its placement. Beside it, a node that is switched on may draw,
once for all jobs on it. The nodes that a job switches on are known when it has been placed; before,
it is charged for the largest possible number, so that no start draws more than was planned for.
"""

from collections.abc import Iterable, Sequence

from hpcsched.system.allocation import Allocation
from hpcsched.system.request import Request
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import System

Amounts = tuple[int, ...]
"""Amount of each shared resource of a system, `[P]`."""


def own_draw(system: System, request: Request) -> Amounts:
    """Return a job's draw apart from the draw of its nodes, `[P]`."""
    draws = []
    for resource in system.shared_resources:
        draw = resource.draw
        if draw.traced:
            draws.append(
                sum(amount for name, amount in request.shared_requests if name == resource.name)
            )
            continue
        per_unit = sum(
            amount * draw.per.get(name, 0)
            for name, amount in zip(system.resource_types, request.unit_request, strict=True)
        )
        draws.append(draw.per_job + request.units * per_unit)
    return tuple(draws)


def node_draw(system: System) -> Amounts:
    """Return the draw of a node from each shared resource while any job runs on it, `[P]`."""
    return tuple(
        0 if resource.draw.traced else resource.draw.per_node
        for resource in system.shared_resources
    )


def most_draw(system: System, request: Request) -> Amounts:
    """Return the largest possible draw of a job, `[P]`: alone on each of its nodes."""
    own, per_node = own_draw(system, request), node_draw(system)
    if not any(per_node):
        return own
    nodes = min(request.units, _nodes_for(system, request))
    return tuple(amount + each * nodes for amount, each in zip(own, per_node, strict=True))


def drawn_by_all(system: System, running: Sequence[tuple[Allocation, Request]]) -> list[Amounts]:
    """Return the draw of each of the jobs that run together, `[K, P]`; the sum is exact.

    Parameters
    ----------
    running
        Allocation and request of each job. A node's draw is charged to the last job on it, so that,
        in order of predicted ends, each draw is the amount released at that job's end.
    """
    draws = [own_draw(system, request) for _, request in running]
    per_node = node_draw(system)
    if not any(per_node):
        return draws
    # Later jobs overwrite earlier ones: the last job on a node switches it off.
    last = {node: k for k, (where, _) in enumerate(running) for node in where.nodes}
    switched_on = [0] * len(draws)
    for k in last.values():
        switched_on[k] += 1
    return [
        tuple(amount + each * nodes for amount, each in zip(own, per_node, strict=True))
        for own, nodes in zip(draws, switched_on, strict=True)
    ]


def total(draws: Iterable[Amounts], count: int) -> Amounts:
    """Return the sum of draws, `[P]`.

    Parameters
    ----------
    draws
        Draws of any number of jobs, each `[P]`.
    """
    sums = [0] * count
    for draw in draws:
        for p, amount in enumerate(draw):
            sums[p] += amount
    return tuple(sums)


def _nodes_for(system: System, request: Request) -> int:
    """Return the number of idle nodes that can hold a unit of a request."""
    known = system.nodes_by_shape
    key = request.unit_request, request.node_groups
    # Sets of allowed nodes may be large and many, so what is known of them is not kept.
    if request.allowed_nodes is None and key in known:
        return known[key]
    nodes = int((units_that_fit(system, system.capacity.T, request) > 0).sum())
    if request.allowed_nodes is None:
        known[key] = nodes
    return nodes
