"""Hypothesis strategies for systems and workloads, and how many examples to try.

HPCSCHED_EXAMPLES multiplies the examples of every property. It is a tenth unless given, so that
`make test` is short; `make test-all` tries all of them, and 10 makes for a long search.
"""

import os
from typing import NamedTuple

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from hpcsched.system.system import NodeGroup, System
from hpcsched.workload.job import TracedJob
from tests.builders import traced

TYPES = ("core", "mem", "gpu")
GAPS = st.sampled_from([0, 0, 0, 1, 1, 2, 4])
"""Seconds between submissions: short, so that queues are long and reservations matter."""


def tries(count: int) -> settings:
    """Return settings for so many examples in `make test-all`, without a deadline for each."""
    factor = float(os.environ.get("HPCSCHED_EXAMPLES", "0.1"))
    # How long a machine takes to draw examples is no fault of theirs.
    slow = [HealthCheck.too_slow]
    count = max(round(count * factor), 1)
    return settings(max_examples=count, deadline=None, suppress_health_check=slow)


class Workload(NamedTuple):
    """A system, jobs for it that all fit when it is idle, and a prediction for each job."""

    system: System
    jobs: tuple[TracedJob, ...]
    predictions: dict[int, int]


class Uniform(NamedTuple):
    """A workload in which every unit asks for `request`, of which `slots` fit at once."""

    system: System
    jobs: tuple[TracedJob, ...]
    predictions: dict[int, int]
    request: tuple[int, ...]
    slots: int


def _numbers(draw, count: int) -> list[int]:
    """Return job numbers that do not ascend with the submit times in every workload."""
    return list(range(count)) if draw(st.booleans()) else list(reversed(range(count)))


@st.composite
def _predicted(draw, run_time: int, predictions: str) -> int:
    """Draw a prediction that is `exact`, `over` (never too low) or `wrong` in both directions."""
    if predictions == "exact":
        return max(run_time, 1)
    lowest = 1 if predictions == "wrong" else max(run_time, 1)
    return draw(st.integers(lowest, lowest + 8))


@st.composite
def uniform_systems(draw, one_slot_nodes: bool | None = None):
    """Draw a system, a unit request and the number of slots, with leftovers on the nodes."""
    if one_slot_nodes is None:
        one_slot_nodes = draw(st.booleans())
    if one_slot_nodes:
        slots = [1] * draw(st.integers(1, 8))
    else:
        slots = draw(st.lists(st.integers(0, 3), min_size=1, max_size=4).filter(any))
    request = draw(st.lists(st.integers(0, 3), min_size=1, max_size=3).filter(any))
    asked = [k for k, amount in enumerate(request) if amount]
    groups = []
    for node, count in enumerate(slots):
        capacity = [count * amount + draw(st.integers(0, 4)) for amount in request]
        scarce = draw(st.sampled_from(asked))
        capacity[scarce] = count * request[scarce] + draw(st.integers(0, request[scarce] - 1))
        groups.append(NodeGroup(f"n{node}", 1, dict(zip(TYPES, capacity, strict=False))))
    return System(tuple(groups)), tuple(request), sum(slots)


@st.composite
def uniform_workloads(
    draw,
    predictions: str = "wrong",
    max_jobs: int = 12,
    shortest: int = 0,
    one_slot_nodes: bool | None = None,
) -> Uniform:
    """Draw a workload of equal unit requests; run times are at least `shortest` seconds."""
    system, request, slots = draw(uniform_systems(one_slot_nodes))
    ids = _numbers(draw, draw(st.integers(1, max_jobs)))
    jobs, predicted, submit_time = [], {}, 0
    for job_id in ids:
        submit_time += draw(GAPS)
        run_time = draw(st.integers(shortest, 8))
        predicted[job_id] = draw(_predicted(run_time, predictions))
        units = draw(st.integers(1, slots))
        jobs.append(traced(job_id, submit_time, units, run_time, request))
    return Uniform(system, tuple(jobs), predicted, request, slots)


@st.composite
def mixed_systems(draw, max_groups: int = 3, max_count: int = 2, max_types: int = 3) -> System:
    """Draw groups of unlike nodes, each with something of at least one resource type."""
    types = TYPES[: draw(st.integers(1, max_types))]
    amounts = st.lists(st.integers(0, 4), min_size=len(types), max_size=len(types)).filter(any)
    groups = draw(
        st.lists(st.tuples(st.integers(1, max_count), amounts), min_size=1, max_size=max_groups)
    )
    return System(
        tuple(
            NodeGroup(f"g{k}", count, dict(zip(types, capacity, strict=True)))
            for k, (count, capacity) in enumerate(groups)
        )
    )


@st.composite
def _mixed_job(draw, system: System, job_id: int, submit_time: int, run_time: int) -> TracedJob:
    """Draw a job that fits on the idle system."""
    home = draw(st.sampled_from(system.groups))
    capacity = [home.resources[name] for name in system.resource_types]
    request = [draw(st.integers(0, min(amount, 3))) for amount in capacity]
    if not any(request):
        request[capacity.index(max(capacity))] = 1
    fits = [
        min(
            group.resources[name] // amount
            for name, amount in zip(system.resource_types, request, strict=True)
            if amount
        )
        for group in system.groups
        for _ in range(group.count)
    ]
    names = [group.name for group in system.groups for _ in range(group.count)]
    groups = nodes = None
    match draw(st.sampled_from(["anywhere", "groups", "nodes"])):
        case "groups":
            groups = frozenset({home.name} | draw(st.sets(st.sampled_from(names))))
        case "nodes":
            one = names.index(home.name) + draw(st.integers(0, home.count - 1))
            nodes = frozenset({one} | draw(st.sets(st.integers(0, len(names) - 1))))
    one_unit_per_node = draw(st.sampled_from([False, False, True]))
    room = sum(
        min(fit, 1) if one_unit_per_node else fit
        for node, (fit, name) in enumerate(zip(fits, names, strict=True))
        if (groups is None or name in groups) and (nodes is None or node in nodes)
    )
    units = draw(st.integers(1, min(room, 6)))
    exclusive = draw(st.sampled_from([False, False, True]))
    return traced(
        job_id,
        submit_time,
        units,
        run_time,
        tuple(request),
        node_groups=groups,
        allowed_nodes=nodes,
        exclusive=exclusive,
        one_unit_per_node=one_unit_per_node,
    )


@st.composite
def mixed_workloads(
    draw, predictions: str = "wrong", max_jobs: int = 7, shortest: int = 0, tiny: bool = False
) -> Workload:
    """Draw unlike jobs on unlike nodes; tiny: at most 3 nodes, 2 resource types and 4 jobs."""
    system = draw(mixed_systems(3, 1, 2) if tiny else mixed_systems())
    ids = _numbers(draw, draw(st.integers(1, 4 if tiny else max_jobs)))
    jobs, predicted, submit_time = [], {}, 0
    for job_id in ids:
        submit_time += draw(GAPS)
        run_time = draw(st.integers(shortest, 8))
        predicted[job_id] = draw(_predicted(run_time, predictions))
        jobs.append(draw(_mixed_job(system, job_id, submit_time, run_time)))
    return Workload(system, tuple(jobs), predicted)
