"""Rounds that need no plan: in which no job fits, and in which all do."""

from hpcsched.dispatching.planning.counted_units import can_be_counted
from hpcsched.dispatching.planning.selection import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.workspace import Workspace


def nothing_fits(problem: DispatchingProblem, workspace: Workspace) -> bool:
    """Say whether there is room for the units of no queued job now."""
    return all(job.units > workspace.units_that_fit(job) for job in problem.queue)


def all_fit(problem: DispatchingProblem, workspace: Workspace, options: SelectionOptions) -> bool:
    """Say whether there is room for all queued jobs together now, on any nodes.

    Every list plan starts them all then. It is known of units that are counted; of others it is not
    said.
    """
    if len(problem.queue) > options.length:
        return False
    counted = problem.free_slots is not None
    if not counted and not (options.counted and can_be_counted(problem, options.step)):
        return False
    units = sum(job.units for job in problem.queue)
    return units <= workspace.units_that_fit(problem.queue[0])
