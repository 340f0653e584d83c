"""Decisions that take simulated time are carried out in both loops when they are due."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.dispatcher import Dispatcher
from hpcsched.dispatching.heuristic.easy import Easy
from hpcsched.dispatching.heuristic.list_scheduling import ListScheduler
from hpcsched.prediction.requested_time import RequestedTime
from hpcsched.simulation.latency import Latency
from tests.builders import alike, easy, parts, traced
from tests.dispatching.core.replays import event_by_event, in_compiled_code
from tests.dispatching.core.test_against_events import dispatchers, requesting, settings
from tests.dispatching.core.test_held_jobs import held_jobs
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

seconds = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2, 5), Fraction(1), Fraction(3)])
latencies = st.tuples(seconds, seconds).map(lambda drawn: Latency(*drawn))

late_dispatchers = dispatchers().filter(lambda drawn: type(drawn) in (Easy, ListScheduler))


@tries(400)
@given(
    workload=uniform_workloads(max_jobs=14),
    dispatcher=late_dispatchers,
    chosen=settings,
    pooled=st.booleans(),
    data=st.data(),
)
def test_equal_units(
    workload: Uniform, dispatcher: Dispatcher, chosen: dict[str, Any], pooled: bool, data: Any
) -> None:
    """Equal units, counted as slots and looked up on nodes; some jobs are held back."""
    jobs, held = requesting(workload), {}
    if data.draw(st.booleans()):
        jobs, held = data.draw(held_jobs(jobs, workload.system, pooled=pooled))
    request = workload.request if pooled else None
    told = {"uniform_request": request, "latency": data.draw(latencies), **chosen, **held}
    simulated = parts(workload.system, dispatcher, **told)
    assert in_compiled_code(simulated, jobs, plainly=True) == event_by_event(simulated, jobs)


@tries(400)
@given(
    workload=mixed_workloads(max_jobs=10),
    dispatcher=late_dispatchers,
    chosen=settings,
    latency=latencies,
)
def test_unlike_units(
    workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any], latency: Latency
) -> None:
    """Unlike units, some of them exclusive, scattered or bound to nodes."""
    simulated = parts(workload.system, dispatcher, latency=latency, **chosen)
    jobs = requesting(workload)
    assert in_compiled_code(simulated, jobs, plainly=True) == event_by_event(simulated, jobs)


def test_by_hand() -> None:
    """Two cores, a decision takes 3 s. Job 1 asks for both, runs for 2 s, and starts at 3.

    Job 2 comes at 1 and asks for one. The decision that is asked for at 3 finds no room for it, the
    one asked for at 6, job 1 having ended at 5, does: it starts at 9. Of what is waited for there
    are free 2 × 3 core-seconds up to 3, 1 × 1 from 5 to 6 and 1 × 3 up to 9.
    """
    jobs = [traced(1, 0, 2, 2), traced(2, 1, 1, 5)]
    late = parts(
        alike(1, core=2), easy(), predictor=RequestedTime(), latency=Latency(base=Fraction(3))
    )
    told = in_compiled_code(late, jobs)
    assert [(number, start, end) for number, start, end, *_ in told.jobs] == [(1, 3, 5), (2, 9, 14)]
    assert [(held[1], held[6], held[9]) for held in told.rounds] == [
        (0, 3, (6,)),
        (3, 3, (1,)),
        (6, 3, (3,)),
    ]
    assert told == event_by_event(late, jobs)
