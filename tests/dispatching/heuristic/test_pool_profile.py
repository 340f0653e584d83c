"""The profile of pools against what is free second by second."""

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.heuristic.pool_profile import PoolProfile
from hpcsched.system.pools import NEVER, Change, Draw, Pool
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.strategies import tries

LENGTH = 80
"""Seconds that are looked at one by one."""


@st.composite
def profiles(draw):
    """Return a profile with running jobs and reservations, and what is free, `[T][P]`."""
    pools, every = [], draw(st.sampled_from([None, 8]))
    for name in ("a", "b"):
        times = sorted(draw(st.sets(st.integers(0, 7), min_size=1, max_size=3)))
        changes = tuple(Change(time, draw(st.integers(0, 6))) for time in times)
        pools.append(Pool(name, draw(st.integers(0, 6)), Draw({name: 1}), changes, every))
    system = System((NodeGroup("n", 9, {"a": 9, "b": 9}),), {}, tuple(pools))
    now = draw(st.integers(0, 12))
    running = draw(
        st.lists(st.tuples(*[st.integers(0, 3)] * 2, st.integers(1, 9)).filter(any), max_size=3)
    )
    lines = ["job_id start_time requested_time a b"]
    lines += [f"{k} {now} {time} {a} {b or 1}" for k, (a, b, time) in enumerate(running)]
    problem = make_problem(system, "\n".join(lines), now=now)
    free = [[pool.capacity_at(now + t) for pool in pools] for t in range(LENGTH)]
    for a, b, time in running:
        for row in free[:time]:
            row[0] -= a
            row[1] -= b or 1
    profile = PoolProfile(problem)
    for _ in range(draw(st.integers(0, 3))):
        begin, length = draw(st.integers(0, 15)), draw(st.integers(1, 9))
        amounts = draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
        profile.take(now + begin, now + begin + length, amounts)
        if draw(st.booleans()):
            profile.give_back(now + begin, now + begin + length, amounts)
            continue
        for row in free[begin : begin + length]:
            row[0] -= amounts[0]
            row[1] -= amounts[1]
    return profile, now, free


@tries(300)
@given(
    drawn=profiles(),
    begin=st.integers(0, 20),
    run_time=st.integers(1, 9),
    draw=st.tuples(st.integers(0, 4), st.integers(0, 4)),
)
def test_against_seconds(drawn, begin, run_time, draw):
    """What fits, what is short, and the earliest time, asked in any order."""
    profile, now, free = drawn

    def fits(start):
        return all(
            amount == 0 or amount <= left
            for row in free[start : start + run_time]
            for amount, left in zip(draw, row, strict=True)
        )

    first = next((t for t in range(begin, 60) if fits(t)), None)
    copy = profile.copy()
    assert copy.earliest(now + begin, run_time, draw) == (NEVER if first is None else now + first)
    assert profile.fits(now + begin, now + begin + run_time, draw) == fits(begin)
    short = profile.lacking(now + begin, now + begin + run_time, draw)
    assert (short is None) == fits(begin)
    if short is not None:
        p = profile.names.index(short)
        assert any(draw[p] > row[p] for row in free[begin : begin + run_time])
    # A copy is a profile of its own.
    copy.take(now, now + LENGTH, (9, 9))
    assert profile.fits(now + begin, now + begin + run_time, draw) == fits(begin)
