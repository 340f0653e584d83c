"""Zero-length jobs: the starts of jobs with a run time of 0, in a plan of all the others."""

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping

import numpy as np

from hpcsched.dispatching.offline.offline_problem import OfflineProblem
from hpcsched.dispatching.problem import WaitingJob
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.space import NodeSpace, units_that_fit


def zero_length_starts(
    problem: OfflineProblem,
    starts: Mapping[int, int],
    allocations: Mapping[int, NodeAllocation],
) -> Iterator[tuple[int, int]]:
    """Yield the number and the start of each zero-length job.

    It starts at its submission or at the first end of another job after it at which there is room
    beside the jobs that started before and still run. It holds nothing, so it delays no one: jobs
    that start at the same instant do so after it.

    Parameters
    ----------
    problem
        All jobs, and the idle system.
    starts
        Starts of the other jobs in seconds, by job number.
    allocations
        Nodes of the other jobs; empty where the system consists of slots.
    """
    idle = [job for job in problem.jobs if job.predicted_run_time == 0]
    if not idle:
        return
    others = [job for job in problem.jobs if job.predicted_run_time > 0]
    ends: list[int] = []
    for job in others:
        insort(ends, starts[job.job_id] + job.predicted_run_time)
    for job in idle:
        # Room only comes free at ends, so that no other instant needs to be looked at.
        for time in (job.submit_time, *ends[bisect_right(ends, job.submit_time) :]):
            beside = [
                other
                for other in others
                if starts[other.job_id] < time < starts[other.job_id] + other.predicted_run_time
            ]
            if _fits(problem, job, beside, allocations):
                yield job.job_id, time
                break


def _fits(
    problem: OfflineProblem,
    job: WaitingJob,
    beside: list[WaitingJob],
    allocations: Mapping[int, NodeAllocation],
) -> bool:
    if problem.free_slots is not None:
        slots = sum(high - low for low, high in problem.free_slots)
        return slots - sum(other.units for other in beside) >= job.units
    space = NodeSpace(problem.system)
    for other in beside:
        space.claim(allocations[other.job_id], other.request)
    fits = units_that_fit(problem.system, space.available, job.request)
    return int(np.sum(fits)) >= job.units
