"""Rounds that need no plan: in which no job fits, and in which all do."""

from hpcsched.dispatching.planning.counted_units import can_be_counted
from hpcsched.dispatching.planning.selection import Wanted
from hpcsched.dispatching.problem import DispatchingProblem, WaitingJob
from hpcsched.system.request import ShapeKey, shape_key
from hpcsched.system.space import units_that_fit


def nothing_fits(problem: DispatchingProblem) -> bool:
    """Say whether there is room for no queued job now."""
    if problem.free_slots is not None:
        free = sum(high - low for low, high in problem.free_slots)
        return all(job.units > free for job in problem.queue)
    assert problem.free_amounts is not None
    least: dict[ShapeKey, WaitingJob] = {}
    for job in problem.queue:
        known = least.setdefault(shape_key(job.request), job)
        if job.units < known.units:
            least[shape_key(job.request)] = job
    return not any(
        units_that_fit(problem.system, problem.free_amounts, job.request).sum() >= job.units
        for job in least.values()
    )


def all_fit(problem: DispatchingProblem, wanted: Wanted) -> bool:
    """Say whether there is room for all queued jobs together now, on any nodes.

    Every list plan starts them all then. It is known of units that are counted; of others it is not
    said.
    """
    if len(problem.queue) > wanted.length:
        return False
    units = sum(job.units for job in problem.queue)
    if problem.free_slots is not None:
        return units <= sum(high - low for low, high in problem.free_slots)
    if not wanted.counted or not can_be_counted(problem, wanted.step):
        return False
    assert problem.free_amounts is not None
    request = problem.queue[0].request
    return bool(units_that_fit(problem.system, problem.free_amounts, request).sum() >= units)
