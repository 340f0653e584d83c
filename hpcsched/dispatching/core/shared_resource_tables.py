"""Arrays of shared resources for the core."""

from collections.abc import Iterable

import numpy as np

from hpcsched.dispatching.core.state import Shapes, SharedResourceTables
from hpcsched.dispatching.core.state_arrays import with_length
from hpcsched.system.request import Request
from hpcsched.system.shared_draws import Amounts, node_draw, own_draw
from hpcsched.system.shared_resources import NEVER, period_of, settled_from
from hpcsched.system.system import IntArray, System

_LEVELS = 4096


def shared_resource_tables(system: System, rows: int, rounds: int = 1) -> SharedResourceTables:
    """Return the tables of a system's shared resources, without any draw.

    Parameters
    ----------
    system
        The system.
    rows
        Number of rows for jobs.
    rounds
        Number of periods after which decisions have seen all capacities.

    Returns
    -------
    SharedResourceTables
        The tables; all fields None without shared resources.
    """
    shared_resources = system.shared_resources
    if not shared_resources:
        return SharedResourceTables()
    count, nodes = len(shared_resources), system.node_count
    changes = [change for resource in shared_resources for change in resource.changes]
    return SharedResourceTables(
        shared_capacity=_numbers(resource.capacity for resource in shared_resources),
        shared_first=_numbers(
            [0, *np.cumsum([len(resource.changes) for resource in shared_resources]).tolist()]
        ),
        shared_at=_numbers(change.at for change in changes),
        shared_offer=_numbers(change.capacity for change in changes),
        shared_every=_numbers(resource.every or 0 for resource in shared_resources),
        shared_period=period_of(shared_resources),
        shared_settled=settled_from(shared_resources),
        shared_own=np.zeros((rows, count), dtype=np.int64),
        shared_node=_numbers(node_draw(system)),
        shared_nodes=_numbers([]),
        shared_drawn=np.zeros(count, dtype=np.int64),
        shared_jobs_on=np.zeros(nodes, dtype=np.int64),
        shared_on_until=np.zeros(nodes, dtype=np.int64),
        shared_levels=np.zeros((_LEVELS, 1 + count), dtype=np.int64),
        shared_rounds=rounds,
    )


def with_rows_of_shared(tables: SharedResourceTables, rows: int) -> SharedResourceTables:
    """Return the tables with at least `rows` rows for jobs."""
    if tables.shared_own is None:
        return tables
    return tables._replace(shared_own=with_length(tables.shared_own, rows))


def with_nodes(tables: SharedResourceTables, shapes: Shapes) -> SharedResourceTables:
    """Return the tables with the node counts of all shapes; those of narrowed shapes stay."""
    if tables.shared_nodes is None:
        return tables
    known = len(tables.shared_nodes)
    nodes = with_length(tables.shared_nodes, len(shapes.on_idle))
    # Shapes keep their numbers, so that only new ones are counted.
    nodes[known:] = (shapes.on_idle[known:] > 0).sum(axis=1)
    return tables._replace(shared_nodes=nodes)


def first_nodes(tables: SharedResourceTables, count: int) -> SharedResourceTables:
    """Return the tables with the first `count` shapes."""
    if tables.shared_nodes is None:
        return tables
    return tables._replace(shared_nodes=tables.shared_nodes[:count])


class OwnDraws:
    """Draws of jobs that do not depend on their nodes, cached by request."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._known: dict[tuple[object, ...], Amounts] = {}

    def of(self, requests: Iterable[Request]) -> list[Amounts]:
        """Return the draws of requests, `[J, P]`."""
        found, known = [], self._known
        for request in requests:
            key = request.units, request.unit_request, request.shared_requests
            draw = known.get(key)
            if draw is None:
                if len(known) > _LEVELS:
                    known.clear()
                # Larger amounts need more than 64 bits, and no shared resource has them.
                amounts = own_draw(self._system, request)
                draw = known[key] = tuple([min(amount, NEVER) for amount in amounts])
            found.append(draw)
        return found


def _numbers(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)
