"""Plans small traces off-line, and finds the best schedules of them by brute force."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import NamedTuple

import numpy as np
from hypothesis import reject

from hpcsched.dispatching.objectives import (
    AF,
    AWF,
    PSF,
    BoundedSlowdown,
    Makespan,
    Slowdown,
    WaitTime,
)
from hpcsched.dispatching.offline.offline_problem import OfflinePlan, OfflineProblem, problem_of
from hpcsched.dispatching.offline.offline_trace import PlanTable
from hpcsched.dispatching.offline.planner import ReplaysPlan, plan_offline
from hpcsched.dispatching.problem import Objective
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.errors import InputError
from hpcsched.simulation.records import JobRecord
from hpcsched.system.space import room_for
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from tests.builders import replay

REGULAR: Mapping[str, Objective] = {
    "slowdown": Slowdown(),
    "bounded_slowdown": BoundedSlowdown(),
    "bounded_slowdown_3": BoundedSlowdown(3),
    "af": AF(),
    "wait_time": WaitTime(),
    "awf": AWF(),
    "makespan": Makespan(),
}
"""Objectives that no job makes smaller by starting later."""

OBJECTIVES: Mapping[str, Objective] = {**REGULAR, "psf": PSF(), "psf_0": PSF(0)}


EFFORT = 0.5
"""For how long the solver works on a trace: enough for what the tests want proved."""


class Planned(NamedTuple):
    """A plan, what came of carrying it out, and its objective."""

    plan: OfflinePlan
    records: dict[int, JobRecord]
    value: float | None


def problem(
    system: System,
    jobs: Iterable[TracedJob],
    objective: Objective,
    request: tuple[int, ...] | None = None,
) -> OfflineProblem:
    """Return the question of a whole trace; `request` is that of all units, if there is one."""
    return problem_of(
        jobs, system, objective, None if request is None else room_for(system, request)
    )


def planned(
    system: System,
    jobs: Sequence[TracedJob],
    objective: Objective,
    request: tuple[int, ...] | None = None,
    budget: int = 3000,
) -> Planned:
    """Plan all jobs at once, and replay them under that plan."""
    plan = plan_offline(problem(system, jobs, objective, request), budget, 1, EFFORT)
    follower = ReplaysPlan(plan, FirstFit())
    recorder = replay(system, follower, jobs, uniform_request=request)
    records = recorder.jobs
    return Planned(plan, records, measured(system, records.values(), objective))


def planned_on_nodes(system: System, jobs: Sequence[TracedJob], objective: Objective) -> Planned:
    """Plan unlike jobs at once; a workload with a job that no whole nodes suit is passed over."""
    try:
        return planned(system, jobs, objective)
    except InputError as error:
        if "alone on nodes of unlike room" not in str(error):
            raise
        reject()


def measured(system: System, records: Iterable[JobRecord], objective: Objective) -> float | None:
    """Return the objective of what a replay came to."""
    ended = list(records)
    return value_of(
        system,
        [TracedJob(record.job, record.end_time - record.start_time) for record in ended],
        [record.start_time for record in ended],
        objective,
    )


def value_of(
    system: System, jobs: Sequence[TracedJob], starts: Sequence[int], objective: Objective
) -> float | None:
    """Return the objective of jobs that start at these instants."""
    start, run_time = np.array(starts), np.array([traced.run_time for traced in jobs])
    demands = [system.demand(job.units, job.unit_request) for job, _ in jobs]
    return objective.measure(
        PlanTable(
            {
                "submit_time": np.array([job.submit_time for job, _ in jobs]),
                "start_time": start,
                "end_time": start + run_time,
                "run_time": run_time,
                "demand": np.array(demands),
            }
        )
    )


def _serial(order: Iterable[TracedJob], slots: int, horizon: int) -> dict[int, int]:
    """Start each job as early as it fits beside those before it, second by second."""
    free, starts = [slots] * horizon, {}
    for job, run_time in order:
        start = job.submit_time
        while min(free[start : start + run_time]) < job.units:
            start += 1
        starts[job.job_id] = start
        for second in range(start, start + run_time):
            free[second] -= job.units
    return starts


def _horizon(jobs: Sequence[TracedJob]) -> int:
    return max(job.submit_time for job, _ in jobs) + sum(traced.run_time for traced in jobs) + 1


def best_of_all_orders(
    system: System, jobs: Sequence[TracedJob], slots: int, objective: Objective
) -> float:
    """Return the least value of an objective that no job makes smaller by starting later.

    One of the serial schedules is best then. Each of a few jobs runs for a second at least.
    """
    values = []
    for order in permutations(jobs):
        starts = _serial(order, slots, _horizon(jobs))
        values.append(value_of(system, jobs, [starts[job.job_id] for job, _ in jobs], objective))
    return min(value for value in values if value is not None)


def all_schedules(jobs: Sequence[TracedJob], slots: int, latest: int) -> Iterator[list[int]]:
    """Yield every way to start very few jobs within so many seconds after their submissions."""
    for waits in product(range(latest + 1), repeat=len(jobs)):
        starts = [job.submit_time + wait for (job, _), wait in zip(jobs, waits, strict=True)]
        used = [0] * (_horizon(jobs) + latest)
        for (job, run_time), start in zip(jobs, starts, strict=True):
            for second in range(start, start + run_time):
                used[second] += job.units
        if max(used) <= slots:
            yield starts
