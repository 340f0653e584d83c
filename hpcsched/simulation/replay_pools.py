"""Pools as arrays, for replays in compiled code."""

import numpy as np

from hpcsched.dispatching.core.state import PoolTables, Shapes, with_length
from hpcsched.simulation.column_checks import LARGEST_AMOUNT
from hpcsched.system.pool_draws import Amounts, most_draw, node_draw
from hpcsched.system.pools import longest_stay, period_of, settled_from
from hpcsched.system.system import IntArray, System
from hpcsched.workload.columns import JobColumns, NeedsPythonError

_LEVELS = 4096


def pool_tables(system: System) -> PoolTables:
    """Return the tables of a replay's pools before its first instant."""
    pools = system.pools
    if not pools:
        return PoolTables()
    count, nodes = len(pools), system.node_count
    per = [[pool.draw.per.get(name, 0) for pool in pools] for name in system.resource_types]
    changes = [change for pool in pools for change in pool.changes]
    return PoolTables(
        pool_capacity=_numbers([pool.capacity for pool in pools]),
        pool_first=_numbers([0, *np.cumsum([len(pool.changes) for pool in pools]).tolist()]),
        pool_at=_numbers([change.at for change in changes]),
        pool_offer=_numbers([change.capacity for change in changes]),
        pool_every=_numbers([pool.every or 0 for pool in pools]),
        pool_period=period_of(pools),
        pool_settled=settled_from(pools),
        pool_job=_numbers([pool.draw.per_job for pool in pools]),
        pool_per=np.array(per, dtype=np.int64),
        pool_node=_numbers(list(node_draw(system))),
        pool_nodes=_numbers([]),
        pool_drawn=np.zeros(count, dtype=np.int64),
        pool_jobs_on=np.zeros(nodes, dtype=np.int64),
        pool_on_until=np.zeros(nodes, dtype=np.int64),
        pool_time=np.zeros(64, dtype=np.int64),
        pool_free=np.zeros((64, count), dtype=np.int64),
        pool_levels=np.zeros((_LEVELS, 1 + count), dtype=np.int64),
    )


def with_nodes(tables: PoolTables, shapes: Shapes) -> PoolTables:
    """Return the tables with the nodes of all shapes; those in use on fewer nodes stay."""
    if tables.pool_nodes is None:
        return tables
    known = len(tables.pool_nodes)
    nodes = with_length(tables.pool_nodes, len(shapes.on_idle))
    nodes[known:] = (shapes.on_idle[known:] > 0).sum(axis=1)
    return tables._replace(pool_nodes=nodes)


def first_nodes(tables: PoolTables, count: int) -> PoolTables:
    """Return the tables with so many of the shapes."""
    if tables.pool_nodes is None:
        return tables
    return tables._replace(pool_nodes=tables.pool_nodes[:count])


class PoolAdmission:
    """Checks whether jobs could ever run for as long as they are predicted to, for all pools."""

    def __init__(self, system: System) -> None:
        self._system = system
        self._stays: dict[Amounts, int] = {}
        self._of_batch = np.empty(0, dtype=np.int64)

    def begin(self, columns: JobColumns) -> None:
        """Take note of a batch; raises NeedsPythonError for amounts that are too large."""
        if not self._system.pools or not len(columns.units):
            return
        pairs = np.stack([columns.request, columns.units])
        distinct, place = np.unique(pairs, axis=1, return_inverse=True)
        stays = [self._stay(columns, request, units) for request, units in distinct.T.tolist()]
        self._of_batch = np.array(stays, dtype=np.int64)[place.reshape(-1)]

    def check(self, predicted: IntArray, first: int, last: int) -> None:
        """Check some jobs of the batch; raises NeedsPythonError for those who could never run."""
        if self._system.pools and (predicted[first:last] > self._of_batch[first:last]).any():
            raise NeedsPythonError("jobs that draw more than a pool offers in the long run")

    def _stay(self, columns: JobColumns, request: int, units: int) -> int:
        draw = most_draw(self._system, columns.requests[request]._replace(units=units))
        if max(draw) > LARGEST_AMOUNT:
            raise NeedsPythonError("jobs that draw amounts of more than 61 bits")
        if draw not in self._stays:
            self._stays[draw] = longest_stay(self._system.pools, draw)
        return self._stays[draw]


def _numbers(values: list[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
