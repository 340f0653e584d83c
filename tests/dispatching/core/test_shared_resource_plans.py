"""What stays free of shared resources in plans against what is free second by second."""

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.core import codes
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.system.shared_resources import Change, Draw, SharedResource
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing import make_problem
from tests.dispatching.plans import RoundPlan
from tests.strategies import tries

LENGTH = 80
"""Seconds that are looked at one by one."""


class Drawn(NamedTuple):
    """The state of a round with a job that waits in row 0, and what is free, `[T][P]`."""

    state: Any
    now: int
    free: list[list[int]]
    draw: tuple[int, int]
    run_time: int

    def fits(self, start: int) -> bool:
        """Say whether shared resources have enough for the job, from so many seconds after now."""
        return all(
            amount == 0 or amount <= left
            for row in self.free[start : start + self.run_time]
            for amount, left in zip(self.draw, row, strict=True)
        )


@st.composite
def rounds(draw: st.DrawFn) -> Drawn:
    """Return a round with running jobs and reservations."""
    shared_resources, every = [], draw(st.sampled_from([None, 8]))
    for name in ("a", "b"):
        times = sorted(draw(st.sets(st.integers(0, 7), min_size=1, max_size=3)))
        changes = tuple(Change(time, draw(st.integers(0, 6))) for time in times)
        shared_resources.append(
            SharedResource(name, draw(st.integers(0, 6)), Draw({name: 1}), changes, every)
        )
    node = NodeGroup("n", 9, {"a": 9, "b": 9, "other": 9})
    system = System((node,), {}, tuple(shared_resources))
    now = draw(st.integers(0, 12))
    amounts, seconds = st.tuples(st.integers(0, 3), st.integers(0, 3)), st.integers(1, 9)
    running = draw(st.lists(st.tuples(amounts, seconds), max_size=3))
    asked = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
    reserved = draw(st.lists(st.tuples(amounts, seconds, st.integers(0, 15)), max_size=3))
    run_time = draw(seconds)
    lines = ["job_id start_time requested_time a b other"]
    lines += [f"{k} {now} {time} {a} {b} 1" for k, ((a, b), time) in enumerate(running)]
    lines += [f"10 - {run_time} {asked[0]} {asked[1]} 1"]
    lines += [f"{k} - {time} {a} {b} 1" for k, ((a, b), time, _) in enumerate(reserved, start=11)]
    state = RoundPlan(make_problem(system, "\n".join(lines), now=now), FirstFit()).state
    free = [[resource.capacity_at(now + t) for resource in shared_resources] for t in range(LENGTH)]
    held = [(each, 0, time) for each, time in running]
    for row, (each, time, begin) in enumerate(reserved, start=1):
        state.reserve_shared(row, now + begin, 1)
        if draw(st.booleans()):
            state.reserve_shared(row, now + begin, -1)
        else:
            held.append((each, begin, begin + time))
    for each, begin, end in held:
        for left in free[begin:end]:
            left[0] -= each[0]
            left[1] -= each[1]
    return Drawn(state, now, free, asked, run_time)


@tries(300)
@given(drawn=rounds(), begin=st.integers(0, 20))
def test_against_seconds(drawn: Drawn, begin: int) -> None:
    """What fits, what is short, and the earliest time, asked in any order."""
    state, now = drawn.state, drawn.now
    first = next((t for t in range(begin, 60) if drawn.fits(t)), None)
    expected = codes.NEVER if first is None else now + first
    assert state.earliest_in_shared(0, now + begin) == expected
    short = state.short_resource(0, now + begin)
    assert (short == -1) == drawn.fits(begin)
    if short != -1:
        during = drawn.free[begin : begin + drawn.run_time]
        assert any(drawn.draw[short] > left[short] for left in during)
