"""Releases by hand, on nodes of 4 and 6 cores."""

from types import SimpleNamespace
from typing import Any

from hpcsched.dispatching.planning.node_choice import releases_of
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import Request
from tests.builders import one_type

SYSTEM = one_type(4, 6)


def running(allocation: NodeAllocation, request: Request) -> Any:
    """Return what releases are made of."""
    return SimpleNamespace(allocation=allocation, waiting=SimpleNamespace(request=request))


def test_units_become_amounts_by_time() -> None:
    """At 5, 2 units of 3 cores leave node 1; at 9, units of 1 core leave nodes 0 (2) and 1 (1)."""
    later = 9, running(NodeAllocation((0, 1), (2, 1)), Request(3, (1,)))
    sooner = 5, running(NodeAllocation((1,), (2,)), Request(2, (3,)))
    times, nodes, amounts = releases_of(SYSTEM, [sooner, later])
    assert (times.tolist(), nodes.tolist()) == ([5, 9, 9], [1, 0, 1])
    assert amounts.tolist() == [[6], [2], [1]]


def test_exclusive_jobs_release_whole_nodes() -> None:
    """One unit of 1 core held all 6 cores of node 1."""
    end = 5, running(NodeAllocation((1,), (1,)), Request(1, (1,), exclusive=True))
    assert releases_of(SYSTEM, [end]).amounts.tolist() == [[6]]


def test_nothing_runs() -> None:
    """There are no releases, of one resource type."""
    assert releases_of(SYSTEM, []).amounts.shape == (0, 1)
