"""Rounds that need no plan: no queued job fits now, or all of them do."""

from hpcsched.dispatching.planning.counted_units import can_be_counted
from hpcsched.dispatching.planning.selection_options import SelectionOptions
from hpcsched.dispatching.problem import DispatchingProblem
from hpcsched.dispatching.rules.workspace import Workspace


def nothing_fits(problem: DispatchingProblem, workspace: Workspace) -> bool:
    """Say whether no queued job has room for its units now."""
    return all(job.units > workspace.units_that_fit(job) for job in problem.queue)


def all_fit(problem: DispatchingProblem, workspace: Workspace, options: SelectionOptions) -> bool:
    """Say whether all queued jobs have room together now, on any nodes.

    Every list plan starts them all then. The answer is exact for counted units; for any others it
    is False.

    Parameters
    ----------
    problem
        The dispatching problem of the round.
    workspace
        The free resources of the round.
    options
        The selection options: more jobs than `length` are never all planned.
    """
    if len(problem.queue) > options.length:
        return False
    counted = problem.free_slots is not None
    if not counted and not (options.counted and can_be_counted(problem, options.step)):
        return False
    units = sum(job.units for job in problem.queue)
    return units <= workspace.units_that_fit(problem.queue[0])
