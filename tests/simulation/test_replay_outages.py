"""Outages as arrays, by hand."""

from hpcsched.simulation.replay_outages import longer, outage_tables, with_requests
from hpcsched.system.node_outages import NO_OUTAGES, Outage, Outages
from hpcsched.system.request import Request
from tests.builders import alike

SYSTEM = alike(3, core=1)
ALL = Outages(
    (Outage(10, 40, (2,), "failure"), Outage(20, 30, (0, 1), "maintenance")), requeue=False
)


def test_none() -> None:
    """There are no arrays where there are no outages."""
    assert set(outage_tables(NO_OUTAGES, SYSTEM)) == set(type(outage_tables(ALL, SYSTEM))())


def test_changes_in_order() -> None:
    """Each outage begins and ends; only announced ones are planned around."""
    tables = outage_tables(ALL, SYSTEM)
    assert tables.change_time.tolist() == [10, 20, 30, 40]
    assert tables.change_sign.tolist() == [1, 1, -1, -1]
    assert tables.change_first.tolist() == [0, 1, 3, 5, 6]
    assert tables.change_nodes.tolist() == [2, 0, 1, 0, 1, 2]
    assert (tables.outage_start.tolist(), tables.outage_end.tolist()) == ([20], [30])
    assert tables.outage_nodes.tolist() == [0, 1]
    assert tables.requeue is False


def test_requests_on_fewer_nodes() -> None:
    """Requests that differ in their nodes alone are of one kind."""
    requests = [
        Request(1, (1,)), Request(1, (1,), allowed_nodes=frozenset({2})),
        Request(1, (1,), exclusive=True),
    ]  # fmt: skip
    tables = with_requests(outage_tables(ALL, SYSTEM), SYSTEM, requests)
    assert tables.kind.tolist() == [0, 0, 1]
    assert tables.may_use.tolist() == [[True] * 3, [False, False, True], [True] * 3]
    extended = longer(tables, 5)
    assert [len(extended.kind), len(extended.may_use), len(extended.room)] == [5, 5, 5]
    assert extended.kind[:3].tolist() == [0, 0, 1]
