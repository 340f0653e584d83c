"""Jobs that wait for others, and partitions, hold back and refuse the same jobs in both loops."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from hpcsched.dispatching.problem import Dispatcher
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.site_partitions import Partition, Partitions
from tests.builders import parts, per_user
from tests.simulation.replays import by_the_core, event_by_event
from tests.simulation.test_against_events import dispatchers, requesting, settings
from tests.simulation.test_outages_of_all import outages
from tests.strategies import Uniform, Workload, mixed_workloads, tries, uniform_workloads

few = st.none() | st.integers(1, 3)


@st.composite
def held_jobs(
    draw: Any, jobs: list[TracedJob], system: System, *, aggregated: bool = False
) -> tuple[list[TracedJob], Any]:
    """Draw jobs that wait for any others and belong to users, and partitions with limits.

    Partitions refuse some jobs, and let some use certain nodes only, unless nodes are `aggregated`.
    """
    names = [group.name for group in system.groups]
    named = st.frozensets(st.sampled_from(names), min_size=1)
    numbers = [job.job_id for job, _ in jobs]
    after = st.lists(st.sampled_from(numbers), max_size=2).map(tuple)
    found = []
    for plain, run_time in jobs:
        waits = draw(st.just(()) | after)
        think_time = draw(st.integers(0, 6)) if waits else 0
        user = draw(st.none() | st.integers(0, 1))
        # The last of these is none.
        partition = draw(st.sampled_from([0, 0, 1, 1, 2]))
        job = plain._replace(after=waits, think_time=think_time, user=user, partition=partition)
        found.append(TracedJob(job, run_time))
    limits = [(draw(few), draw(few)) for _ in range(2)]
    partitions = Partitions(
        tuple(
            Partition(
                f"p{k}",
                {"partition": frozenset({k})},
                draw(st.none() | named) if not aggregated else None,
                draw(st.none() | st.integers(3, 9)),
                limits=per_user(running, nodes),
            )
            for k, (nodes, running) in enumerate(limits)
        )
    )
    return found, {
        "partitions": draw(st.sampled_from([partitions, Partitions()])),
        "dependencies": True,
    }


@tries(200)
@given(
    workload=uniform_workloads(max_jobs=16),
    dispatcher=dispatchers(),
    chosen=settings,
    aggregated=st.booleans(),
    data=st.data(),
)
def test_equal_units(
    workload: Uniform, dispatcher: Dispatcher, chosen: dict[str, Any], aggregated: bool, data: Any
) -> None:
    """Equal units, counted as slots and looked up on nodes."""
    jobs, held = data.draw(held_jobs(requesting(workload), workload.system, aggregated=aggregated))
    request = workload.request if aggregated else None
    simulated = parts(workload.system, dispatcher, uniform_request=request, **chosen, **held)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@tries(200)
@given(
    workload=mixed_workloads(max_jobs=10),
    dispatcher=dispatchers(),
    chosen=settings,
    data=st.data(),
)
def test_unlike_units(
    workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any], data: Any
) -> None:
    """Unlike units, some of them exclusive, one per node or bound to nodes."""
    jobs, held = data.draw(held_jobs(requesting(workload), workload.system))
    simulated = parts(workload.system, dispatcher, **chosen, **held)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)


@tries(400)
@given(
    workload=mixed_workloads(max_jobs=12),
    dispatcher=dispatchers(),
    chosen=settings,
    hears=st.booleans(),
    data=st.data(),
)
def test_outages(
    workload: Workload, dispatcher: Dispatcher, chosen: dict[str, Any], hears: bool, data: Any
) -> None:
    """Nodes that go out of service, from which jobs may be requeued; an observer hears of it."""
    system, jobs, held = workload.system, requesting(workload), {}
    if data.draw(st.integers(0, 3)):
        jobs, held = data.draw(held_jobs(jobs, system))
    given_outages = data.draw(outages(system, data.draw(st.sampled_from([12, 20, 40]))))
    simulated = parts(system, dispatcher, outages=given_outages, **chosen, **held)
    compiled = by_the_core(simulated, jobs, hears=hears)
    assert compiled == event_by_event(simulated, jobs, hears=hears)
