"""Decisions that take simulated time are carried out in both loops when they are due."""

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.latency import Latency
from tests.builders import alike, easy, parts, traced
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_against_events import dispatchers, requesting, settings
from tests.simulation.test_further_rules import RULES, rules
from tests.simulation.test_held_jobs import held_jobs
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

seconds = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2, 5), Fraction(1), Fraction(3)])
latencies = st.tuples(seconds, seconds).map(lambda drawn: Latency(*drawn))


@tries(200)
@given(
    workload=uniform_workloads(max_jobs=14),
    dispatcher=dispatchers(),
    chosen=settings,
    aggregated=st.booleans(),
    data=st.data(),
)
def test_equal_units(
    workload: Uniform, dispatcher: Dispatcher, chosen: dict[str, Any], aggregated: bool, data: Any
) -> None:
    """Equal units, counted as slots and looked up on nodes; some jobs are held back."""
    jobs, held = requesting(workload), {}
    if data.draw(st.booleans()):
        jobs, held = data.draw(held_jobs(jobs, workload.system, aggregated=aggregated))
    request = workload.request if aggregated else None
    told = {"uniform_request": request, "latency": data.draw(latencies), **chosen, **held}
    simulated = parts(workload.system, dispatcher, **told)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@tries(200)
@given(
    workload=mixed_workloads(max_jobs=10),
    dispatcher=dispatchers(),
    chosen=settings,
    latency=latencies,
)
def test_unlike_units(
    workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any], latency: Latency
) -> None:
    """Unlike units, some of them exclusive, one per node or bound to nodes."""
    simulated = parts(workload.system, dispatcher, latency=latency, **chosen)
    jobs = requesting(workload)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@rules
@tries(100)
@given(
    workload=mixed_workloads(max_jobs=12) | uniform_workloads(max_jobs=14),
    chosen=settings,
    latency=latencies,
    data=st.data(),
)
def test_beside_outages(
    rule: str,
    workload: Uniform | Workload,
    chosen: dict[str, Any],
    latency: Latency,
    data: st.DataObject,
) -> None:
    """Nodes that go out of service, on which jobs run or were to start; some are held back."""
    system, make, jobs, held = workload.system, data.draw(RULES[rule]), requesting(workload), {}
    if data.draw(st.booleans()):
        jobs, held = data.draw(held_jobs(jobs, system))
    if data.draw(st.integers(0, 3)):
        held["outages"] = data.draw(outages(system, data.draw(st.sampled_from([12, 20, 40]))))
    elif isinstance(workload, Uniform):
        held["uniform_request"] = workload.request if not held else None
    told = [
        run(parts(system, make(), latency=latency, **chosen, **held))
        for run in (
            lambda simulated: by_the_core(simulated, jobs),
            lambda simulated: event_by_event(simulated, jobs),
        )
    ]
    assert told[0] == told[1]


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
    told = by_the_core(late, jobs)
    assert [(number, start, end) for number, start, end, *_ in told.jobs] == [(1, 3, 5), (2, 9, 14)]
    assert [(held[1], held[6], held[10]) for held in told.rounds] == [
        (0, 3, (6,)),
        (3, 3, (1,)),
        (6, 3, (3,)),
    ]
    assert told == event_by_event(late, jobs)
