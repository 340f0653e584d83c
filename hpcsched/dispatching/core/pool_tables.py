"""Arrays of shared resources (pools) for the core."""

from collections.abc import Iterable

import numpy as np

from hpcsched.dispatching.core.state import PoolTables, Shapes, with_length
from hpcsched.system.pool_draws import Amounts, node_draw, own_draw
from hpcsched.system.request import Request
from hpcsched.system.shared_resources import NEVER, period_of, settled_from
from hpcsched.system.system import IntArray, System

_LEVELS = 4096


def pool_tables(system: System, rows: int, rounds: int = 1) -> PoolTables:
    """Return the tables of a system's pools, without any draw.

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
    PoolTables
        The tables; all fields None without pools.
    """
    pools = system.pools
    if not pools:
        return PoolTables()
    count, nodes = len(pools), system.node_count
    changes = [change for pool in pools for change in pool.changes]
    return PoolTables(
        pool_capacity=_numbers(pool.capacity for pool in pools),
        pool_first=_numbers([0, *np.cumsum([len(pool.changes) for pool in pools]).tolist()]),
        pool_at=_numbers(change.at for change in changes),
        pool_offer=_numbers(change.capacity for change in changes),
        pool_every=_numbers(pool.every or 0 for pool in pools),
        pool_period=period_of(pools),
        pool_settled=settled_from(pools),
        pool_own=np.zeros((rows, count), dtype=np.int64),
        pool_node=_numbers(node_draw(system)),
        pool_nodes=_numbers([]),
        pool_drawn=np.zeros(count, dtype=np.int64),
        pool_jobs_on=np.zeros(nodes, dtype=np.int64),
        pool_on_until=np.zeros(nodes, dtype=np.int64),
        pool_time=np.zeros(64, dtype=np.int64),
        pool_free=np.zeros((64, count), dtype=np.int64),
        pool_levels=np.zeros((_LEVELS, 1 + count), dtype=np.int64),
        pool_rounds=rounds,
    )


def with_rows_of_pools(tables: PoolTables, rows: int) -> PoolTables:
    """Return the tables with at least `rows` rows for jobs."""
    if tables.pool_own is None:
        return tables
    return tables._replace(pool_own=with_length(tables.pool_own, rows))


def with_nodes(tables: PoolTables, shapes: Shapes) -> PoolTables:
    """Return the tables with the node counts of all shapes; those of narrowed shapes stay."""
    if tables.pool_nodes is None:
        return tables
    known = len(tables.pool_nodes)
    nodes = with_length(tables.pool_nodes, len(shapes.on_idle))
    # Shapes keep their numbers, so that only new ones are counted.
    nodes[known:] = (shapes.on_idle[known:] > 0).sum(axis=1)
    return tables._replace(pool_nodes=nodes)


def first_nodes(tables: PoolTables, count: int) -> PoolTables:
    """Return the tables with the first `count` shapes."""
    if tables.pool_nodes is None:
        return tables
    return tables._replace(pool_nodes=tables.pool_nodes[:count])


class OwnDraws:
    """Draws of jobs that do not depend on their nodes, cached by request."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._known: dict[tuple[object, ...], Amounts] = {}

    def of(self, requests: Iterable[Request]) -> list[Amounts]:
        """Return the draws of requests, `[J, P]`."""
        found, known = [], self._known
        for request in requests:
            key = request.units, request.unit_request, request.pool_requests
            draw = known.get(key)
            if draw is None:
                if len(known) > _LEVELS:
                    known.clear()
                # Larger amounts need more than 64 bits, and no pool has them.
                amounts = own_draw(self._system, request)
                draw = known[key] = tuple([min(amount, NEVER) for amount in amounts])
            found.append(draw)
        return found


def _numbers(values: Iterable[int]) -> IntArray:
    return np.fromiter(values, dtype=np.int64)
