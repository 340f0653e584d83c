"""Shared resources in time, and draws from them, against counts second by second."""

from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hpcsched.system.shared_resources import (
    NEVER,
    Change,
    Draw,
    SharedResource,
    longest_stay,
    next_change,
    steps_from,
)
from hpcsched.system.space import NodeAllocation, drawn_by_all, most_draw, own_draw
from hpcsched.system.system import NodeGroup, System
from tests.builders import traced
from tests.strategies import tries

DAY = SharedResource("power", 12, changes=(Change(8, 6), Change(20, 10)), every=24)
ONCE = SharedResource("power", 12, changes=(Change(8, 6), Change(20, 10)))


@pytest.mark.parametrize(
    ("time", "once", "by_day"),
    [(-5, 12, 12), (0, 12, 12), (7, 12, 12), (8, 6, 6), (19, 6, 6), (20, 10, 10), (23, 10, 10),
     (24, 10, 10), (31, 10, 10), (32, 10, 6), (44, 10, 10), (56, 10, 6)],
)  # fmt: skip
def test_what_is_offered_when(time, once, by_day):
    """The capacity holds until the first change; a period begins with what the last one left."""
    assert ONCE.capacity_at(time) == once
    assert DAY.capacity_at(time) == by_day


@pytest.mark.parametrize(
    ("time", "once", "by_day"),
    [(-5, 8, 8), (0, 8, 8), (8, 20, 20), (19, 20, 20), (20, NEVER, 32), (32, NEVER, 44)],
)
def test_the_next_change(time, once, by_day):
    """It comes after the time, in the next period if not in this one."""
    assert ONCE.next_change(time) == once
    assert DAY.next_change(time) == by_day
    assert next_change((ONCE, DAY), time) == min(once, by_day)


def test_steps():
    """They begin with the time asked for, and end where nothing changes any more."""
    assert list(steps_from([ONCE], 9)) == [(9, (6,)), (20, (10,))]
    assert list(islice(steps_from([ONCE, DAY], 21), 3)) == [
        (21, (10, 10)),
        (32, (10, 6)),
        (44, (10, 10)),
    ]


@st.composite
def shared_resources(draw) -> list[SharedResource]:
    """Draw two shared resources with a period of 6 or 12 each, or without any."""
    found = []
    for name in ("a", "b"):
        every = draw(st.sampled_from([None, 6, 12]))
        times = sorted(draw(st.sets(st.integers(0, (every or 12) - 1), max_size=3)))
        changes = tuple(Change(time, draw(st.integers(0, 4))) for time in times)
        every = every if changes else None
        found.append(SharedResource(name, draw(st.integers(0, 4)), changes=changes, every=every))
    return found


@tries(200)
@given(shared_resources=shared_resources(), asked=st.tuples(st.integers(0, 4), st.integers(0, 4)))
def test_the_longest_stay(shared_resources, asked):
    """It is the longest row of seconds, far from now, at which both have enough."""
    enough = [
        all(
            a == 0 or a <= resource.capacity_at(time)
            for resource, a in zip(shared_resources, asked, strict=True)
        )
        for time in range(48, 48 + 60)
    ]
    longest = stay = 0
    for fits in enough:
        stay = stay + 1 if fits else 0
        longest = max(longest, stay)
    assert longest_stay(shared_resources, asked) == (NEVER if all(enough) else longest)


SYSTEM = System(
    (NodeGroup("node", 3, {"core": 4, "gpu": 1}),),
    {},
    (
        SharedResource("power", 100, Draw({"core": 2, "gpu": 7}, per_node=10, per_job=1)),
        SharedResource("licence", 5, Draw(traced=True)),
    ),
)


def test_what_jobs_draw():
    """A job is charged for as many nodes as it could be alone on; the sum over all is exact."""
    first = traced(1, 0, 4, 5, (2, 0), shared_requests=(("licence", 3),)).job.request
    second = traced(2, 0, 2, 5, (1, 1)).job.request
    assert own_draw(SYSTEM, first) == (1 + 4 * 4, 3)
    assert own_draw(SYSTEM, second) == (1 + 2 * 9, 0)
    assert most_draw(SYSTEM, first) == (17 + 30, 3)
    assert most_draw(SYSTEM, second) == (19 + 20, 0)
    one_node = traced(3, 0, 4, 5, (1, 0), allowed_nodes=frozenset({2})).job.request
    assert most_draw(SYSTEM, one_node) == (1 + 8 + 10, 0)
    # Both are on node 0, which is switched off with the second.
    running = [
        (NodeAllocation((0, 1), (2, 2)), first),
        (NodeAllocation((0, 2), (1, 1)), second),
    ]
    draws = drawn_by_all(SYSTEM, running)
    assert draws == [(17 + 10, 3), (19 + 20, 0)]
