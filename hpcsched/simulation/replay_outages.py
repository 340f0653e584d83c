"""Outages as arrays, for replays in compiled code."""

from collections.abc import Sequence

import numpy as np

from hpcsched.dispatching.core.state import BoolArray, OutageTables
from hpcsched.dispatching.core.state_arrays import with_length
from hpcsched.system.node_outages import Outages
from hpcsched.system.request import Request, ShapeKey, shape_key
from hpcsched.system.system import IntArray, System


def outage_tables(outages: Outages, system: System) -> OutageTables:
    """Return the tables of a replay's outages before its first instant."""
    if not outages.all:
        return OutageTables()
    announced = sorted(outage for outage in outages.all if outage.announced)
    changes = [(o.start, 1, o.nodes) for o in outages.all]
    changes += [(o.end, -1, o.nodes) for o in outages.all]
    changes.sort(key=lambda change: change[0])
    first, nodes = _node_lists([outage.nodes for outage in announced])
    change_first, change_nodes = _node_lists([of for _, _, of in changes])
    count = system.node_count
    return OutageTables(
        outage_start=_numbers([outage.start for outage in announced]),
        outage_end=_numbers([outage.end for outage in announced]),
        outage_first=first,
        outage_nodes=nodes,
        change_time=_numbers([time for time, _, _ in changes]),
        change_sign=_numbers([sign for _, sign, _ in changes]),
        change_first=change_first,
        change_nodes=change_nodes,
        down=np.zeros(count, dtype=np.int64),
        closed=np.zeros(count, dtype=np.bool_),
        missed=np.zeros(count, dtype=np.bool_),
        # Before the first instant they are worked out.
        clear_until=np.full(count, -1, dtype=np.int64),
        limits=np.zeros(count, dtype=np.int64),
        requeue=outages.requeue,
        kind=_numbers([]),
        may_use=np.empty((0, count), dtype=np.bool_),
        room=_numbers([]),
        narrowed=_numbers([]),
        narrowed_span=_numbers([]),
    )


def with_requests(
    tables: OutageTables, system: System, requests: Sequence[Request]
) -> OutageTables:
    """Return the tables with all requests, and nothing about shapes on fewer nodes."""
    kinds: dict[ShapeKey, int] = {}
    kind = [kinds.setdefault(shape_key(_anywhere(request)), len(kinds)) for request in requests]
    may_use = np.array(
        [_allowed(request, system.node_count) for request in requests], dtype=np.bool_
    )
    none = _numbers([])
    return tables._replace(
        kind=_numbers(kind), may_use=may_use, room=none, narrowed=none, narrowed_span=none
    )


def longer(tables: OutageTables, length: int) -> OutageTables:
    """Extend the tables to a number of shapes."""
    per_shape = ("kind", "may_use", "room", "narrowed", "narrowed_span")
    columns = {name: with_length(getattr(tables, name), length) for name in per_shape}
    return tables._replace(**columns)


def _anywhere(request: Request) -> Request:
    return request._replace(allowed_nodes=None)


def _allowed(request: Request, nodes: int) -> BoolArray:
    """Return the mask of the nodes that a request names, `[N]`; all if it names none."""
    if request.allowed_nodes is None:
        return np.ones(nodes, dtype=np.bool_)
    allowed = np.zeros(nodes, dtype=np.bool_)
    allowed[list(request.allowed_nodes)] = True
    return allowed


def _node_lists(lists: Sequence[Sequence[int]]) -> tuple[IntArray, IntArray]:
    """Concatenate lists; return the begin of each, and the whole."""
    first = np.concatenate(([0], np.cumsum([len(nodes) for nodes in lists], dtype=np.int64)))
    return first.astype(np.int64), _numbers([node for nodes in lists for node in nodes])


def _numbers(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)
