"""Rounds that Python has the core decide: with allocators of others."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.allocator import Allocator, Room
from hpcsched.dispatching.decision import NOTHING
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder
from hpcsched.simulation.observer import Observer
from hpcsched.system.space import NodeAllocation
from hpcsched.testing import make_problem, make_system
from tests.builders import ALLOCATORS, OPTIONS, Told, alike, easy_rule, replay
from tests.strategies import mixed_workloads, tries, uniform_workloads


class Passes:
    """An allocator that the core does not know: it does as another, and keeps what it is shown."""

    def __init__(self, other: Allocator) -> None:
        self._other = other
        self.rooms: list[Room] = []

    def allocate(self, units: int, room: Room) -> NodeAllocation:
        """Keep the room and do as the other."""
        self.rooms.append(room)
        return self._other.allocate(units, room)


class Listener(Observer):
    """Hears of reasons, so that dispatchers are asked for them."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def reasons_given(self, record: Any, reasons: Any) -> None:
        """Keep them."""
        self.heard.append(reasons)


def dispatchers(allocator: Allocator) -> list[Any]:
    """Return a dispatcher of each kind with an allocator."""
    order = ArrivalOrder()
    lists = [list_rule(order, option, allocator) for option in OPTIONS]
    return [easy_rule(allocator), *lists]


@pytest.mark.parametrize("name", ["first-fit", "best-fit", "keep-scarce"])
@tries(40)
@given(data=st.data())
def test_an_allocator_in_python_places_what_the_same_in_the_core_does(name: str, data: Any) -> None:
    """Jobs start at the same times on the same nodes, for the same reasons."""
    if data.draw(st.booleans()):
        workload, request = data.draw(mixed_workloads()), None
    else:
        workload = data.draw(uniform_workloads())
        request = workload.request
    kind = data.draw(st.integers(0, 3))
    found = []
    for allocator in (ALLOCATORS[name], Passes(ALLOCATORS[name])):
        listener = Listener()
        recorder = replay(
            workload.system,
            dispatchers(allocator)[kind],
            workload.jobs,
            (listener,),
            predictor=Told(workload.predictions),
            uniform_request=request,
        )
        places = {
            number: (job.start_time, job.allocation.nodes, job.allocation.units)
            for number, job in recorder.jobs.items()
        }
        found.append((places, listener.heard))
    assert found[0] == found[1]


RUNS = """
job_id  units  core  gpu  requested_time  start_time
1       1      2     1    10              0
2       2      2     1    5               -
3       1      2     1    5               -
"""


@pytest.mark.parametrize("aggregated", [False, True])
def test_what_an_allocator_is_shown(aggregated: bool) -> None:
    """A node holds two units; job 1 has one, with two cores and one GPU, of node 0.

    Job 2 is put on nodes 0 and 1, which leaves a unit on node 1 to job 3. What is shown for job 2
    stays as it was.
    """
    given = make_problem(alike(2, core=5, gpu=2), RUNS, aggregated=aggregated)
    looks = Passes(FirstFit())
    starts = easy_rule(looks).dispatch(given).starts
    assert [(start.job_id, start.allocation.nodes) for start in starts] == [(2, (0, 1)), (3, (1,))]
    first, second = looks.rooms
    assert np.array(first.fits).tolist() == [1, 2]
    assert first.available.tolist() == [[3, 5], [1, 2]]
    assert np.array(second.fits).tolist() == [0, 1]
    assert second.available.tolist() == [[1, 3], [0, 1]]
    assert first.unit_request == (2, 1)
    assert first.problem is given


def test_nothing_waits() -> None:
    """An empty queue has nothing to decide."""
    table = "job_id units requested_time start_time\n1 1 5 0"
    for dispatcher in dispatchers(FirstFit()):
        assert dispatcher.dispatch(make_problem(make_system(2), table)) is NOTHING
