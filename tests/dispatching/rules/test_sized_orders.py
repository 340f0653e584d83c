"""The queue orders by numbers of processors, worked out by hand."""

from collections.abc import Sequence

import pytest

from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob, waiting_job
from hpcsched.dispatching.rules.core_rules import list_rule
from hpcsched.dispatching.rules.orders import sized_order
from hpcsched.system.system import NodeGroup, Request, System
from hpcsched.workload.job import Job
from tests.builders import ALLOCATORS, NoObjective, alike, parts, traced
from tests.simulation.replays import by_the_core, event_by_event

SYSTEM = alike(8, core=1)


def sorted_by(name: str, queue: Sequence[WaitingJob], system: System, now: int) -> list[int]:
    """Return the numbers of the jobs in the order."""
    given = DispatchingProblem(now, 1, tuple(queue), (), system, NoObjective(), system.capacity.T)
    return [job.job_id for job in sized_order(name, system).sort(given)]


def waiting(
    job_id: int, submit: int, run_time: int, units: int, system: System = SYSTEM
) -> WaitingJob:
    """Return a job of so many processors."""
    job = Job(job_id, submit, Request(units, (1,) * len(system.resource_types)), run_time)
    return waiting_job(job, run_time, system)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        # (100/50)³·1 = 8, (40/20)³·2 = 16, (10/100)³·8 = 0.008, (100/100)³·9 = 9
        ("wfp3", [2, 4, 1, 3]),
        # log₂ 1 = 0, so that job 1 comes first; 40/(20·1) = 2; 10/(100·3) = 0.03;
        # 100/(100·3.17) = 0.32
        ("unicef", [1, 2, 4, 3]),
        # log₁₀ of submit times 1 (for 0), 60, 90, 1: 0, 1.778, 1.954, 0
        # 1.699·1 = 1.70, 1.301·2 + 1547 = 1550, 2·8 + 1700 = 1716, 2·9 = 18
        ("f1", [1, 4, 2, 3]),
        # √50·1 = 7.1, √20·2 + 45,521 = 45,530, √100·8 + 50,029 = 50,109, √100·9 = 90
        ("f2", [1, 4, 2, 3]),
        # 50·1 = 50, 20·2 + 12.2e6, 100·8 + 13.4e6, 100·9 = 900
        ("f3", [1, 4, 2, 3]),
        # 50·1 = 50, 20·√2 + 942,400, 100·√8 + 1,035,750, 100·3 = 300
        ("f4", [1, 4, 2, 3]),
    ],
)
def test_by_hand(name: str, expected: list[int]) -> None:
    """At second 100."""
    system = alike(9, core=1)
    queue = [
        waiting(1, 0, 50, 1, system), waiting(2, 60, 20, 2, system),
        waiting(3, 90, 100, 8, system), waiting(4, 0, 100, 9, system),
    ]  # fmt: skip
    assert sorted_by(name, queue, system, 100) == expected


def test_size_and_time_weigh_against_the_submission() -> None:
    """F2 lets a job pass that came later, where those before it are large enough.

    Job 1: √10,000 · 400 + 25,600 · log₁₀ 10 = 65,600; job 2: √100 + 25,600 · log₁₀ 100 = 51,210.
    By F4: 10,000 · 20 + 530,000 = 730,000 against 100 · 1 + 1,060,000 = 1,060,100.
    """
    system = alike(400, core=1)
    queue = [waiting(1, 10, 10_000, 400, system), waiting(2, 100, 100, 1, system)]
    assert sorted_by("f2", queue, system, 200) == [2, 1]
    assert sorted_by("f4", queue, system, 200) == [1, 2]


def test_processors_are_the_largest_share_of_the_system() -> None:
    """Of 8 cores and 16 GiB, a job of 1 core and 4 GiB takes a quarter: as much as 2 cores.

    So it comes before one of 1 core and 1 GiB that has waited as long: (10/10)³ · 2 against 1.
    """
    system = System((NodeGroup("node", 1, {"core": 8, "mem": 16}),))
    jobs = [
        waiting_job(Job(k, 0, Request(1, (1, memory)), 10), 10, system)
        for k, memory in ((1, 1), (2, 4))
    ]
    assert sorted_by("wfp3", jobs, system, 10) == [2, 1]


@pytest.mark.parametrize("name", ["wfp3", "unicef", "f1", "f2", "f3", "f4"])
def test_both_loops(name: str) -> None:
    """The loop over columns keeps keys of its own for what the order says job by job."""
    jobs = [traced(n, n * 7 % 50 + n, 1 + n * 11 % 8, 1 + n * 37 % 90) for n in range(1, 60)]
    jobs.sort(key=lambda one: one.job.submit_time)
    scheduler = list_rule(sized_order(name, SYSTEM), "backfill", ALLOCATORS["first-fit"])
    simulated = parts(SYSTEM, scheduler)
    assert by_the_core(simulated, jobs) == event_by_event(simulated, jobs)
