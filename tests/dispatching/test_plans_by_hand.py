"""Compiled loops over a plan, on a few segments whose answers are worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest

from hpcsched.dispatching.core import plan_kernels
from hpcsched.dispatching.core.codes import NEVER
from hpcsched.dispatching.core.plan_reservation_kernels import earliest, preference, reserve_one
from hpcsched.system.system import IntArray

Step = tuple[int, tuple[int, ...]]
"""From when on how much is free of each type."""


def array(*numbers: object) -> IntArray:
    """Return an array of whole numbers."""
    return np.array(numbers, dtype=np.int64)


class Plan:
    """The segments of nodes, each given by its steps, and room for ten more."""

    def __init__(self, *nodes: Sequence[Step]) -> None:
        self.count = len(nodes)
        size = sum(map(len, nodes)) + 10
        self.start = np.full(size, -9, dtype=np.int64)
        self.after = np.full(size, -9, dtype=np.int64)
        self.free = np.full((size, len(nodes[0][0][1])), -9, dtype=np.int64)
        used = len(nodes)
        for n, steps in enumerate(nodes):
            places = [n, *range(used, used + len(steps) - 1)]
            used += len(steps) - 1
            for s, following, (time, amounts) in zip(places, [*places[1:], -1], steps, strict=True):
                self.start[s], self.after[s], self.free[s] = time, following, amounts
        self.state = array(used, -1)

    @property
    def segments(self) -> tuple[IntArray, IntArray, IntArray]:
        """What the functions are given."""
        return self.start, self.after, self.free

    @property
    def steps(self) -> list[list[Step]]:
        """The steps of each node."""
        found: list[list[Step]] = []
        for n in range(self.count):
            s = n
            found.append([])
            while s != -1:
                found[-1].append((int(self.start[s]), tuple(self.free[s].tolist())))
                s = int(self.after[s])
        return found


def test_a_plan_is_opened() -> None:
    """At 3 there is (4, 0) on node 0 and (1, 2) on node 1, and five releases follow.

    The first is now; the second and third are at one time on one node.
    """
    plan = Plan([(0, (0, 0))], [(0, (0, 0))])
    available = array((4, 1), (0, 2))
    times, nodes = array(3, 5, 5, 8, 9), array(0, 1, 1, 0, 1)
    amounts = array((1, 0), (1, 1), (0, 2), (2, 2), (1, 1))
    assert plan_kernels.open_plan(3, available, times, nodes, amounts, *plan.segments) == 5
    assert plan.steps == [
        [(3, (5, 0)), (8, (7, 2))],
        [(3, (1, 2)), (5, (2, 5)), (9, (3, 6))],
    ]


@pytest.mark.parametrize(
    ("free", "asked", "on_idle", "units"),
    [
        ((5, 9), (2, 3), 9, 2),
        ((8, 9), (2, 3), 9, 3),
        ((8, 9), (2, 3), 2, 2),
        ((8, 0), (2, 0), 4, 4),
        ((1, 9), (2, 0), 4, 0),
        ((2, 9), (2, 0), 2, 1),
        ((9, 2), (0, 2), 1, 1),
        ((9, 9), (1, 1), 0, 0),
    ],
)
def test_units_during_a_segment(
    free: tuple[int, int], asked: tuple[int, int], on_idle: int, units: int
) -> None:
    """As many as fit of each type that is asked for, and no more than on the idle node."""
    shape = array(*asked), array(7, on_idle), False, array((0, 0), (9, 9))
    assert plan_kernels.units_during(0, 1, array(free), *shape) == units


@pytest.mark.parametrize(("free", "units"), [((9, 4), 3), ((9, 3), 0), ((8, 4), 0)])
def test_units_of_an_exclusive_job_during_a_segment(free: tuple[int, int], units: int) -> None:
    """As many as on the idle node if it is idle, and none otherwise."""
    shape = array(3, 0), array(7, 3), True, array((0, 0), (9, 4))
    assert plan_kernels.units_during(0, 1, array(free), *shape) == units


@pytest.mark.parametrize(
    ("end", "units", "on_idle", "fits"),
    [
        (4, 3, (3, 3), True),
        (4, 4, (3, 3), False),
        (4, 2, (1, 3), True),
        (4, 3, (1, 3), False),
        (5, 2, (3, 3), True),
        (5, 3, (3, 3), False),
        (6, 2, (3, 3), True),
        (7, 1, (3, 3), True),
        (7, 2, (3, 3), False),
        (9, 1, (3, 0), False),
    ],
)
def test_what_fits_until(end: int, units: int, on_idle: tuple[int, int], fits: bool) -> None:
    """On node 0 there are 2 until 4 and 1 until 6, on node 1 there is 1 until 5, and 3 then."""
    plan = Plan([(0, (2,)), (4, (1,)), (6, (0,))], [(0, (1,)), (5, (3,))])
    shape = array(1), array(*on_idle), False, array((3,), (3,))
    assert plan_kernels.fits_until(end, units, *plan.segments, *shape) is fits


@pytest.mark.parametrize(
    ("begin", "end", "lowest"),
    [
        (0, 3, [[5, 1], [1, 1]]),
        (3, 6, [[2, 1], [4, 1]]),
        (4, 6, [[2, 9], [4, 9]]),
        (4, 7, [[2, 9], [0, 9]]),
        (2, 4, [[2, 1], [1, 1]]),
        (2, 9, [[2, 1], [0, 1]]),
        (7, 9, [[7, 9], [0, 9]]),
    ],
)
def test_the_least_that_is_free(begin: int, end: int, lowest: list[list[int]]) -> None:
    """Of two types on two nodes, of which the first has three segments."""
    plan = Plan([(0, (5, 1)), (3, (2, 4)), (6, (7, 0))], [(0, (1, 1)), (4, (9, 9))])
    found = np.zeros((2, 2), dtype=np.int64)
    plan_kernels.find_lowest(begin, end, *plan.segments, found)
    assert found.tolist() == lowest


TAKEN = [
    (2, 7, [(0, (6, 6)), (2, (5, 4)), (5, (7, 6)), (7, (8, 8)), (9, (9, 9))]),
    (5, 9, [(0, (6, 6)), (5, (7, 6)), (9, (9, 9))]),
    (0, 5, [(0, (5, 4)), (5, (8, 8)), (9, (9, 9))]),
    (6, 8, [(0, (6, 6)), (5, (8, 8)), (6, (7, 6)), (8, (8, 8)), (9, (9, 9))]),
    (10, 12, [(0, (6, 6)), (5, (8, 8)), (9, (9, 9)), (10, (8, 7)), (12, (9, 9))]),
]


@pytest.mark.parametrize(("begin", "end", "steps"), TAKEN)
def test_what_is_taken_of_a_node(begin: int, end: int, steps: list[Step]) -> None:
    """(1, 2) is less; segments are split where one does not begin or end there already."""
    others = [(0, (4, 4)), (3, (5, 5))]
    plan = Plan(others, [(0, (6, 6)), (5, (8, 8)), (9, (9, 9))])
    plan_kernels.take_on(1, begin, end, array(1, 2), *plan.segments, plan.state)
    assert plan.steps == [others, steps]
    assert plan.state.tolist() == [len(steps) + 2, -1]


@pytest.mark.parametrize(("begin", "end", "steps"), TAKEN)
def test_what_is_closed(begin: int, end: int, steps: list[Step]) -> None:
    """The same segments come about on both nodes, and in those in between nothing is free."""
    node = [(0, (6, 6)), (5, (8, 8)), (9, (9, 9))]
    plan = Plan(node, [(0, (4, 4))], node)
    plan_kernels.close(begin, end, array(0, 2), *plan.segments, plan.state)
    closed = [(time, (0, 0) if begin <= time < end else free) for time, free in steps]
    assert plan.steps == [closed, [(0, (4, 4))], closed]
    assert plan.state.tolist() == [2 * len(steps) + 1, -1]


def test_what_is_taken_of_nodes() -> None:
    """From 2 to 4, 1 of node 2 and 3 of node 0."""
    plan = Plan([(0, (5,))], [(0, (5,))], [(0, (5,))])
    plan_kernels.take(2, 4, array(2, 0), array((1,), (3,)), *plan.segments, plan.state)
    assert plan.steps == [
        [(0, (5,)), (2, (2,)), (4, (5,))],
        [(0, (5,))],
        [(0, (5,)), (2, (4,)), (4, (5,))],
    ]


@pytest.mark.parametrize(
    ("end", "asked", "rank"),
    [
        # Of type 1, which is not asked for, 2 of 8 are free; of the node 4 of 8 and 2 of 4.
        (3, (1, 0, 0), (2 / 8, (4 / 8 + 2 / 4) / 2)),
        (4, (1, 0, 0), (1 / 8, (2 / 8 + 1 / 4) / 2)),
        (6, (1, 0, 0), (1 / 8, (2 / 8 + 1 / 4) / 2)),
        (7, (1, 0, 0), (0, (1 / 8 + 0 / 4) / 2)),
        (3, (0, 0, 0), (4 / 16 + 2 / 8, (4 / 8 + 2 / 4) / 2)),
        (3, (1, 1, 0), (0, (4 / 8 + 2 / 4) / 2)),
    ],
)
def test_how_nodes_are_ranked(end: int, asked: tuple[int, ...], rank: tuple[float, float]) -> None:
    """By the least that is free until then; of type 2 the system has nothing."""
    plan = Plan(
        [(0, (9, 9, 0)), (1, (0, 0, 0))],
        [(0, (4, 2, 0)), (3, (2, 1, 0)), (6, (1, 0, 0))],
    )
    capacity, totals = array((8, 4, 0), (8, 4, 0)), array(16, 8, 0)
    found = preference(1, 1, end, *plan.segments, array(*asked), capacity, totals)
    assert found == rank


def test_how_nodes_of_few_types_are_ranked() -> None:
    """A node that has one type alone is ranked by that, and one that has none as quite taken."""
    plan = Plan([(0, (0, 2))], [(0, (0, 0))])
    more = array(0, 1), array((0, 4), (0, 0)), array(16, 8)
    assert preference(0, 0, 3, *plan.segments, *more) == (0, 2 / 4)
    assert preference(1, 1, 3, *plan.segments, *more) == (0, 0)


# Where the second type is not asked for, the node that has less of it comes first.
FULL, GAP = [(0, (1, 2))], [(0, (1, 2)), (2, (0, 2)), (5, (1, 2))]


@pytest.mark.parametrize(
    ("nodes", "run_time", "start", "on"),
    [
        (([(0, (0, 1)), (4, (1, 1))], [(0, (0, 1)), (2, (1, 1))]), 3, 2, 1),
        (([(0, (0, 1)), (2, (1, 1))], [(0, (0, 1)), (4, (1, 1))]), 3, 2, 0),
        ((FULL, FULL), 3, 0, 0),
        ((FULL, [(0, (1, 1))]), 3, 0, 1),
        (([(0, (1, 1))], FULL), 3, 0, 0),
        (([(0, (0, 1)), (2, (1, 2))], [(0, (0, 1)), (2, (1, 1))]), 3, 2, 1),
        ((GAP, GAP), 2, 0, 0),
        ((GAP, GAP), 3, 5, 0),
        ((GAP, [(0, (0, 2)), (4, (1, 2))]), 3, 4, 1),
        (([(0, (1, 1)), (2, (2, 1)), (4, (0, 1))], [(0, (0, 0))]), 4, 0, 0),
        # It ends as the other's room would: what is free then says nothing of it.
        (([(0, (1, 1))], [(0, (1, 1)), (2, (1, 0))]), 2, 0, 0),
        (([(0, (1, 1))], [(0, (1, 1)), (2, (1, 0))]), 3, 0, 1),
    ],
)
@pytest.mark.parametrize("known", [False, True])
def test_room_for_one_unit(
    nodes: tuple[list[Step], list[Step]], run_time: int, start: int, on: int, known: bool
) -> None:
    """At the earliest time, on the node that is ranked first; the room is taken.

    It is the same where that time is known as one with room, and as the first there may be.
    """
    release, latest = (start, start) if known else (0, NEVER)
    plan = Plan(*nodes)
    shape = array(1, 0), array(1, 1), False, array((2, 2), (2, 2))
    found = reserve_one(release, latest, run_time, *plan.segments, plan.state, *shape, array(4, 4))
    assert found == start
    assert plan.state[1] == on
    taken = Plan(*nodes)
    end = start + run_time
    plan_kernels.take_on(on, start, end, array(1, 0), *taken.segments, taken.state)
    assert plan.steps == taken.steps


def test_room_for_one_unit_of_an_exclusive_job() -> None:
    """Node 0 is idle from 5 on, and taken in full; node 1 may not be used."""
    plan = Plan([(0, (1, 2)), (5, (2, 2))], [(0, (2, 2))])
    shape = array(1, 0), array(1, 0), True, array((2, 2), (2, 2))
    assert reserve_one(0, NEVER, 3, *plan.segments, plan.state, *shape, array(4, 4)) == 5
    assert plan.steps == [[(0, (1, 2)), (5, (0, 0)), (8, (2, 2))], [(0, (2, 2))]]
    assert plan.state.tolist() == [4, 0]


def test_no_room_for_one_unit() -> None:
    """Nothing is taken where there is none, and no node is chosen."""
    plan = Plan([(0, (1,))], [(0, (0,)), (3, (0,))])
    shape = array(1), array(0, 1), False, array((2,), (2,))
    found = reserve_one(0, NEVER, 3, *plan.segments, plan.state, *shape, array(4))
    assert found == NEVER
    assert plan.steps == [[(0, (1,))], [(0, (0,)), (3, (0,))]]
    assert plan.state.tolist() == [3, -1]


@pytest.mark.parametrize(
    ("units", "run_time", "start"),
    [
        (1, 5, 10),  # node 1
        (1, 6, 13),  # node 0: 2 until 17, and 1 then
        (3, 1, 13),
        (3, 2, 13),
        (3, 3, 16),  # from 13 on node 1 has none at 15, and from 14 on neither
        (2, 4, 13),  # node 0
        (2, 5, 16),  # from 13 on node 0 has 1 at 17
        (5, 1, 16),
        (5, 2, None),  # from 16 on node 0 has 1 at 17, and 4 are all there are from then on
        (4, 9, 16),
        (6, 1, None),
    ],
)
@pytest.mark.parametrize("on_idle", [(3, 3, 0), (9, 9, 0)])
def test_room_for_units(
    units: int, run_time: int, start: int | None, on_idle: tuple[int, ...]
) -> None:
    """Node 0 has 0, from 13 on 2, from 17 on 1; node 1 has 1, from 15 on 0, from 16 on 3.

    Node 2 may not be used.
    """
    plan = Plan(
        [(10, (0,)), (13, (2,)), (17, (1,))],
        [(10, (1,)), (15, (0,)), (16, (3,))],
        [(10, (9,))],
    )
    shape = array(1), array(*on_idle), False, array((9,), (9,), (9,))
    count = int(plan.state[0])
    for latest in (NEVER, 30, NEVER if start is None else start):
        found = earliest(10, latest, units, run_time, count, *plan.segments, *shape)
        assert found == (NEVER if start is None else start)
    assert isinstance(found, int | np.integer)
