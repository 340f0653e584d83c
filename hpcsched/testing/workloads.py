"""Small seeded workloads with bursts, ties and odd run times, which expose defects."""

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from hpcsched.system.request import Request
from hpcsched.system.space import units_that_fit
from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import Job, TracedJob

ONE_SLOT = System((NodeGroup("node", 16, {"core": 1}),))
SEVERAL_SLOTS = System(
    (NodeGroup("small", 3, {"core": 5, "mem": 8}), NodeGroup("large", 2, {"core": 6, "mem": 20}))
)
MIXED = System(
    (
        NodeGroup("cpu", 4, {"core": 8, "mem": 16}),
        NodeGroup("gpu", 2, {"core": 8, "mem": 32, "gpu": 2}),
        NodeGroup("fat", 1, {"core": 16, "mem": 128}),
    )
)
"""Resource types are, in this order, core, mem and gpu."""


class SampleWorkload(NamedTuple):
    """Jobs for a system; each fits on the idle system.

    Attributes
    ----------
    uniform
        True if all jobs have equal units, without constraints on nodes.
    """

    name: str
    system: System
    jobs: tuple[TracedJob, ...]
    uniform: bool


def sample_workloads(seed: int = 0, count: int = 40) -> tuple[SampleWorkload, ...]:
    """Return three workloads, equal for a seed on every machine.

    They are `one-slot` (nodes that hold one unit), `several-slots` (nodes that hold several, with
    leftovers), and `mixed` (heterogeneous requests and nodes, some jobs bound to node groups or
    single nodes, some exclusive, some with one unit per node). Jobs come in bursts; some have zero
    length, some run longer than requested.
    """
    return (
        SampleWorkload("one-slot", ONE_SLOT, _jobs(ONE_SLOT, _core, seed, count), True),
        SampleWorkload(
            "several-slots", SEVERAL_SLOTS, _jobs(SEVERAL_SLOTS, _cores_and_mem, seed, count), True
        ),
        SampleWorkload("mixed", MIXED, _jobs(MIXED, _anything, seed, count), False),
    )


def _core(_random: Random) -> Request:
    return Request(1, (1,))


def _cores_and_mem(_random: Random) -> Request:
    return Request(1, (2, 3))


def _anything(random: Random) -> Request:
    request = random.choice([(1, 0, 0), (4, 4, 0), (8, 16, 0), (0, 12, 0), (2, 8, 1), (3, 24, 0)])
    groups = random.choice([None, None, None, frozenset({"gpu"}), frozenset({"gpu", "fat"})])
    exclusive = random.random() < 0.15
    one_unit_per_node = random.random() < 0.2
    if groups is None and random.random() < 0.2:
        able = [n for n, has in enumerate(MIXED.capacity) if (has >= request).all()]
        nodes = frozenset(random.sample(able, (len(able) + 1) // 2))
        return Request(1, request, None, nodes, exclusive, one_unit_per_node)
    return Request(1, request, groups, None, exclusive, one_unit_per_node)


def _jobs(
    system: System, wish: Callable[[Random], Request], seed: int, count: int
) -> tuple[TracedJob, ...]:
    random = Random(seed)
    jobs, submit_time = [], 0
    # Numbers out of order: a dispatcher that takes them for arrivals is found out.
    for job_id in random.sample(range(1, count + 1), count):
        # Half of all steps are 0, so that bursts and ties are common.
        submit_time += random.choice([0, 0, 0, 1, 7, 40])
        jobs.append(_job(job_id, submit_time, system, wish(random), random))
    return tuple(jobs)


def _job(job_id: int, submit_time: int, system: System, wish: Request, random: Random) -> TracedJob:
    room = int(units_that_fit(system, system.capacity.T, wish).sum())
    units = random.choice([1, 1, 2, 3, room // 2, room])
    run_time = random.choice([0, 1, random.randint(2, 60), random.randint(30, 600)])
    # Half the run time at times: jobs that outlive their request are part of every real log.
    requested_time = max(1, round(run_time * random.choice([0.5, 1, 1, 2, 5])))
    job = Job(
        job_id,
        submit_time,
        wish._replace(units=max(1, min(units, room))),
        requested_time,
        user=random.randint(1, 4),
    )
    return TracedJob(job, run_time)
