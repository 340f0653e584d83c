"""Deliberately naive dispatchers, a naive replay and a naive auditor, to check real ones by.

Time goes by in single seconds, room is a list of numbers, and nothing is remembered or shared with
the code under test. The dispatchers know one resource: slots, any of which takes any job unit.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import NamedTuple

from hpcsched.simulation.records import JobRecord
from hpcsched.system.system import System
from hpcsched.workload.job import Job, TracedJob


class Waiting(NamedTuple):
    """A queued job: what it needs, and how long it is predicted to run."""

    job_id: int
    submit_time: int
    units: int
    predicted: int


class Running(NamedTuple):
    """A running job, and when it is predicted to end."""

    units: int
    predicted_end: int


Decide = Callable[[int, Sequence[Waiting], Sequence[Running], int], list[int]]
"""From now, the queue, the running jobs and the number of slots to the jobs that start, in turn."""

SORT_KEYS: dict[str, Callable[[Waiting], tuple[int, ...]]] = {
    "fcfs": lambda _: (),
    "sjf": lambda job: (job.predicted, job.units),
    "ljf": lambda job: (-job.predicted, -job.units),
    "saf": lambda job: (job.predicted * job.units,),
    "laf": lambda job: (-job.predicted * job.units,),
    "spf": lambda job: (
        job.predicted * job.units * job.predicted,
        job.predicted * job.units,
        job.submit_time,
    ),
}


class _Seconds:
    """The number of free slots in each second from now on."""

    def __init__(
        self, now: int, queue: Sequence[Waiting], running: Sequence[Running], slots: int
    ) -> None:
        longest = max((job.predicted_end - now for job in running), default=0)
        self.now = now
        self.free = [slots] * (longest + sum(job.predicted for job in queue) + 1)
        for job in running:
            self.take(now, job.predicted_end, job.units)

    def take(self, start: int, end: int, units: int) -> None:
        for second in range(start - self.now, end - self.now):
            self.free[second] -= units

    def has_room(self, start: int, job: Waiting) -> bool:
        first = start - self.now
        return min(self.free[first : first + job.predicted]) >= job.units

    def earliest(self, job: Waiting) -> int:
        start = self.now
        while not self.has_room(start, job):
            start += 1
        return start

    def run(self, start: int, job: Waiting) -> None:
        self.take(start, start + job.predicted, job.units)


def easy(now: int, queue: Sequence[Waiting], running: Sequence[Running], slots: int) -> list[int]:
    """Return the jobs that EASY starts: a later job may not move the head job's earliest start."""
    seconds = _Seconds(now, queue, running, slots)
    waiting = list(queue)
    started = []
    while waiting and seconds.free[0] >= waiting[0].units:
        job = waiting.pop(0)
        seconds.run(now, job)
        started.append(job.job_id)
    if not waiting:
        return started
    head, *others = waiting
    shadow_time = seconds.earliest(head)
    for job in others:
        if seconds.free[0] >= job.units:
            seconds.run(now, job)
            if seconds.earliest(head) == shadow_time:
                started.append(job.job_id)
            else:
                seconds.take(now, now + job.predicted, -job.units)
    return started


def plan(
    now: int,
    queue: Sequence[Waiting],
    running: Sequence[Running],
    slots: int,
    *,
    order: str = "fcfs",
    option: str = "backfill",
    depth: int | None = None,
) -> dict[int, int]:
    """Return the start times that list scheduling plans, in the order in which it plans them."""
    seconds = _Seconds(now, queue, running, slots)
    planned: dict[int, int] = {}
    reservations = 0
    for job in sorted(queue, key=SORT_KEYS[order]):
        if seconds.has_room(now, job):
            planned[job.job_id] = now
            seconds.run(now, job)
        elif option == "strict":
            break
        elif option == "backfill" and (depth is None or reservations < depth):
            reservations += 1
            planned[job.job_id] = seconds.earliest(job)
            seconds.run(planned[job.job_id], job)
    return planned


def list_scheduling(order: str, option: str, depth: int | None) -> Decide:
    """Return a list scheduler: Algorithm 1 of Goponenko et al., word for word."""

    def decide(
        now: int, queue: Sequence[Waiting], running: Sequence[Running], slots: int
    ) -> list[int]:
        planned = plan(now, queue, running, slots, order=order, option=option, depth=depth)
        return [job_id for job_id, start in planned.items() if start == now]

    return decide


class _Active(NamedTuple):
    """A running job of the naive replay."""

    waiting: Waiting
    start: int
    end: int


def replay(
    decide: Decide, jobs: Iterable[TracedJob], predictions: dict[int, int], slots: int
) -> dict[int, int]:
    """Return the start times of a whole replay, second by second."""
    upcoming = list(jobs)
    run_times = {traced.job.job_id: traced.run_time for traced in upcoming}
    queue: list[Waiting] = []
    active: list[_Active] = []
    starts: dict[int, int] = {}
    now = -1
    while upcoming or queue or active:
        now += 1
        still_active = [job for job in active if job.end > now]
        something_happens = len(still_active) < len(active)
        active = still_active
        while upcoming and upcoming[0].job.submit_time == now:
            job = upcoming.pop(0).job
            predicted = predictions[job.job_id]
            queue.append(Waiting(job.job_id, now, job.units, predicted))
            something_happens = True
        while something_happens and queue:
            running = [
                Running(job.waiting.units, max(job.start + job.waiting.predicted, now + 1))
                for job in active
            ]
            chosen = decide(now, queue, running, slots)
            for job in [job for job in queue if job.job_id in chosen]:
                queue.remove(job)
                starts[job.job_id] = now
                active.append(_Active(job, now, now + run_times[job.job_id]))
            something_happens = any(job.end == now for job in active)
            active = [job for job in active if job.end > now]
    return starts


Placement = tuple[int, ...]
"""How many of a job's units are on each node of the system."""


def node_capacities(system: System) -> list[list[int]]:
    """Return what each node has, read from the groups as they are declared."""
    return [
        [group.resources.get(name, 0) for name in system.resource_types]
        for group in system.groups
        for _ in range(group.count)
    ]


def node_group_names(system: System) -> list[str]:
    """Return the name of each node's group."""
    return [group.name for group in system.groups for _ in range(group.count)]


def placement_of(system: System, allocation: object) -> Placement:
    """Return an allocation as units on every node."""
    units = dict(zip(allocation.nodes, allocation.units, strict=True))
    return tuple(units.get(node, 0) for node in range(len(node_capacities(system))))


def free_beside(system: System, placed: Iterable[tuple[Job, Placement]]) -> list[list[int]]:
    """Return what is left of each node beside jobs; below 0 where there is too little."""
    free = node_capacities(system)
    capacity = node_capacities(system)
    for job, placement in placed:
        for node, units in enumerate(placement):
            for r, amount in enumerate(job.unit_request):
                exclusively = job.exclusive and units > 0
                free[node][r] -= capacity[node][r] if exclusively else units * amount
    return free


def conflicts(system: System, placed: Sequence[tuple[Job, Placement]]) -> list[str]:
    """Return what is wrong with jobs that run at the same time on these places."""
    wrong = []
    names = node_group_names(system)
    capacity = node_capacities(system)
    for node, name in enumerate(names):
        here = [(job, placement[node]) for job, placement in placed if placement[node]]
        for r, resource_type in enumerate(system.resource_types):
            used = sum(job.unit_request[r] * units for job, units in here)
            if used > capacity[node][r]:
                wrong.append(f"node {node}: {used} {resource_type} of {capacity[node][r]}")
        if len(here) > 1 and any(job.exclusive for job, _ in here):
            wrong.append(f"node {node}: an exclusive job shares it")
        wrong += [
            f"node {node}: {units} units of job {job.job_id}, which needs a node for each"
            for job, units in here
            if job.one_unit_per_node and units > 1
        ]
        wrong += [
            f"node {node}: job {job.job_id} may not use group {name}"
            for job, _ in here
            if job.node_groups is not None and name not in job.node_groups
        ]
        wrong += [
            f"node {node}: job {job.job_id} may not use it"
            for job, _ in here
            if job.allowed_nodes is not None and node not in job.allowed_nodes
        ]
    return wrong


def placements(system: System, job: Job) -> Iterator[Placement]:
    """Yield every way to spread a job's units over the nodes, possible or not."""
    nodes = len(node_capacities(system))
    for placement in product(range(job.units + 1), repeat=nodes):
        if sum(placement) == job.units:
            yield placement


def can_be_placed(system: System, job: Job, placed: Sequence[tuple[Job, Placement]]) -> bool:
    """Say whether a job fits beside others, by trying every way to place it."""
    return any(
        not conflicts(system, [*placed, (job, placement)]) for placement in placements(system, job)
    )


def audit(
    system: System, jobs: Iterable[TracedJob], records: dict[int, JobRecord], killing: bool = False
) -> list[str]:
    """Return all that is wrong with a finished replay in which no job was to be rejected."""
    wrong = []
    expected = {traced.job.job_id: traced for traced in jobs}
    if sorted(expected) != sorted(records):
        wrong.append(f"jobs {sorted(expected)} were submitted, {sorted(records)} ended")
    runs = []
    for job_id, record in records.items():
        job, run_time = expected[job_id]
        if killing:
            run_time = min(run_time, job.requested_time)
        if record.start_time is None or record.end_time is None or record.allocation is None:
            wrong.append(f"job {job_id} has not run")
            continue
        if record.start_time < job.submit_time:
            wrong.append(f"job {job_id} starts before it is submitted")
        if record.end_time - record.start_time != run_time:
            wrong.append(f"job {job_id} does not run for {run_time} s")
        nodes = list(record.allocation.nodes)
        if nodes != sorted(set(nodes)) or any(units < 1 for units in record.allocation.units):
            wrong.append(f"job {job_id} has a malformed allocation: {record.allocation}")
        placement = placement_of(system, record.allocation)
        if sum(placement) != job.units:
            wrong.append(f"job {job_id} has {sum(placement)} units placed of {job.units}")
        runs.append((record.start_time, record.end_time, job, placement))
    for instant in sorted({time for start, end, *_ in runs for time in (start, end)}):
        present = [
            (job, placement) for start, end, job, placement in runs if start <= instant < end
        ]
        wrong += [f"at {instant} s: {what}" for what in conflicts(system, present)]
    return wrong
