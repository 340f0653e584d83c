"""Small systems, jobs and dispatching problems, from short texts or a seed.

Jobs are written as a table: a line of column names, then a line for each job. The columns have the
names of the glossary, in any order, and most have a default; `-` stands for an absent value.

    job_id  submit_time  units  run_time  requested_time
    1       0            4      60        100
    2       5            1      30        -
"""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any, NamedTuple

import hpcsched
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.dispatching.problem import DispatchingProblem, RunningJob, WaitingJob, waiting_job
from hpcsched.system.space import NodeSpace, idle_room, units_that_fit
from hpcsched.system.system import NodeGroup, Request, System, is_constrained
from hpcsched.workload.job import BOUNDS, NUMBERED, Column, bounded_request

_NUMBERS = ("submit_time", "requested_time")
_JOB_COLUMNS = ("job_id", "run_time", "units", *_NUMBERS, *NUMBERED, *(c.name for c in BOUNDS))
_PROBLEM_COLUMNS = ("start_time", "predicted_run_time")


def make_system(count: int = 4, **resources: int) -> System:
    """Return a system of identical nodes in a group called `node`.

    Parameters
    ----------
    **resources
        Amount of each resource type per node; one core by default.

    Examples
    --------
    >>> make_system(2, core=4, gpu=1).resource_types
    ('core', 'gpu')
    """
    return System((NodeGroup("node", count, resources or {"core": 1}),))


def make_jobs(system: System, table: str) -> list[hpcsched.TracedJob]:
    """Return the jobs of a table, in its order.

    A job needs a `job_id`, and a `run_time` or a `requested_time`, each of which is the default of
    the other. By default it is submitted at 0 and has one unit. Columns with the names of resource
    types hold the amounts per unit; without any, a unit asks for one of the first type.
    `node_groups` are names and `allowed_nodes` node numbers with commas between them; `exclusive`
    and `one_unit_per_node` are `yes` or `no`. A table that cannot be read is a ValueError.
    """
    return [_job(system, row) for row in _rows(system, table, _JOB_COLUMNS)]


def make_problem(
    system: System, table: str, *, now: int | None = None, aggregated: bool = False
) -> DispatchingProblem:
    """Return the dispatching problem of a table of jobs.

    The table is as for `make_jobs`, with two more columns: a job with a `start_time` is running, on
    the lowest-numbered nodes with room beside the running jobs above it; the others wait. The
    default of `predicted_run_time` is the requested time.

    Parameters
    ----------
    now
        Simulated second; by default the last submission or start.
    aggregated
        True: free units are counted, for jobs with equal units.
    """
    rows = list(_rows(system, table, _JOB_COLUMNS + _PROBLEM_COLUMNS))
    jobs = [_waiting(system, row) for row in rows]
    starts = [int(row["start_time"]) if "start_time" in row else None for row in rows]
    # The last event of the table, as a round is held when something has happened.
    if now is None:
        now = max([job.submit_time for job in jobs] + [s for s in starts if s is not None])
    free_units: int | None = None
    if aggregated:
        unit = Request(1, uniform_request([job.job for job in jobs]))
        free_units = idle_room(system, unit).units
    nodes = NodeSpace(system)
    running = [
        _start(job, start_time, now, nodes)
        for job, start_time in zip(jobs, starts, strict=True)
        if start_time is not None
    ]
    nodes.available.flags.writeable = False
    return DispatchingProblem(
        now,
        1,
        tuple(job for job, start in zip(jobs, starts, strict=True) if start is None),
        tuple(sorted(running, key=lambda job: (job.predicted_end_time, job.job_id))),
        system,
        BoundedSlowdown(),
        nodes.available,
        None if free_units is None else free_units - sum(job.units for job in running),
    )


def uniform_request(jobs: list[hpcsched.Job]) -> tuple[int, ...]:
    """Return the unit request of all jobs, or raise a ValueError if they differ."""
    requests = {job.unit_request for job in jobs}
    if len(requests) != 1 or any(is_constrained(job.request) for job in jobs):
        raise ValueError("aggregated: expected jobs that all ask for the same, on any node")
    return requests.pop()


def _rows(system: System, table: str, columns: tuple[str, ...]) -> Iterator[Mapping[str, str]]:
    """Yield the values of each line; raises ValueError for a malformed one."""
    lines = [line.split() for line in table.splitlines() if line.strip()]
    header = lines[0] if lines else []
    # Unknown columns are refused: a misspelt one would silently take its default.
    known = (*columns, *system.resource_types)
    for column in header:
        if column not in known:
            raise ValueError(f"unknown column {column!r}; there are: {', '.join(known)}")
    for line in lines[1:]:
        if len(line) != len(header):
            raise ValueError(f"expected {len(header)} values, found {' '.join(line)!r}")
        row = {name: value for name, value in zip(header, line, strict=True) if value != "-"}
        if "job_id" not in row or not ("run_time" in row or "requested_time" in row):
            raise ValueError(
                f"expected a job_id, and a run_time or a requested_time: {' '.join(line)!r}"
            )
        yield row


def _job(system: System, row: Mapping[str, str]) -> hpcsched.TracedJob:
    # Without a requested time the limit is the run time, so that no job is killed unawares.
    given = {"submit_time": "0", "requested_time": row.get("run_time", ""), **row}
    numbers: dict[str, Any] = {name: int(given[name]) for name in _NUMBERS}
    optional: dict[str, Any] = {name: int(row[name]) for name in NUMBERED if name in row}
    amounts = {name: int(row[name]) for name in system.resource_types if name in row}
    request = bounded_request(
        int(row.get("units", 1)),
        system.request(amounts or {system.resource_types[0]: 1}),
        {column.name: _bound(column, row.get(column.name)) for column in BOUNDS},
    )
    job = hpcsched.Job(job_id=int(row["job_id"]), request=request, **numbers, **optional)
    return hpcsched.TracedJob(job, int(row.get("run_time", job.requested_time)))


def _bound(column: Column, text: str | None) -> Any:
    if column.kind == "flag":
        return text == "yes"
    if text is None:
        return None
    return text.split(",") if column.kind == "names" else list(map(int, text.split(",")))


def _waiting(system: System, row: Mapping[str, str]) -> WaitingJob:
    job = _job(system, row).job
    return waiting_job(job, int(row.get("predicted_run_time", job.requested_time)), system)


def _start(waiting: WaitingJob, start_time: int, now: int, nodes: NodeSpace) -> RunningJob:
    """Start a job on the lowest-numbered nodes with room, and take it."""
    request = waiting.request
    fits = units_that_fit(nodes.system, nodes.available, request)
    if fits.sum() < request.units:
        raise ValueError(f"job {waiting.job_id} has no room beside the running jobs above it")
    allocation = hpcsched.fill(request.units, fits)
    nodes.claim(allocation, request)
    return RunningJob(
        # A running job ends after now in every problem, also where it has outlived its prediction.
        max(start_time + waiting.predicted_run_time, now + 1),
        waiting.job_id,
        start_time,
        request.units,
        allocation,
        waiting,
    )


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
    jobs: tuple[hpcsched.TracedJob, ...]
    uniform: bool


def sample_workloads(seed: int = 0, count: int = 40) -> tuple[SampleWorkload, ...]:
    """Return three workloads, equal for a seed on every machine.

    They are `one-slot` (nodes that hold one unit), `several-slots` (nodes that hold several, with
    leftovers), and `mixed` (heterogeneous requests and nodes, some jobs bound to node groups or
    single nodes, some exclusive, some with one unit per node). Jobs come in bursts; some have zero
    length, some run longer than requested.
    """
    requests = (
        ("one-slot", ONE_SLOT, Request(1, (1,))),
        ("several-slots", SEVERAL_SLOTS, Request(1, (2, 3))),
        ("mixed", MIXED, None),
    )
    return tuple(
        SampleWorkload(name, system, _jobs(system, request, seed, count), request is not None)
        for name, system, request in requests
    )


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
    system: System, uniform: Request | None, seed: int, count: int
) -> tuple[hpcsched.TracedJob, ...]:
    random = Random(seed)
    jobs, submit_time = [], 0
    # Numbers out of order: a dispatcher that takes them for arrivals is found out.
    for job_id in random.sample(range(1, count + 1), count):
        # Half of all steps are 0, so that bursts and ties are common.
        submit_time += random.choice([0, 0, 0, 1, 7, 40])
        request = uniform or _anything(random)
        room = idle_room(system, request).units
        units = max(1, min(random.choice([1, 1, 2, 3, room // 2, room]), room))
        run_time = random.choice([0, 1, random.randint(2, 60), random.randint(30, 600)])
        # Half the run time at times: jobs that outlive their request are part of every real log.
        requested = max(1, round(run_time * random.choice([0.5, 1, 1, 2, 5])))
        request, user = request._replace(units=units), random.randint(1, 4)
        job = hpcsched.Job(job_id, submit_time, request, requested, user=user)
        jobs.append(hpcsched.TracedJob(job, run_time))
    return tuple(jobs)
