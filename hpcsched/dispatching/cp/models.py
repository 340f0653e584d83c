"""The models of a round: as many jobs as allowed, in the shortest steps the solver can count."""

from collections.abc import Iterator

from hpcsched.dispatching.cp.solver_client import SolverClient
from hpcsched.dispatching.planning.plan_improver import PlanningRound
from hpcsched.dispatching.planning.selection import Selection, select
from hpcsched.dispatching.planning.selection_options import SelectionOptions

STEPS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
"""Seconds of a step, ascending; the first within the solver's range of numbers is used."""


def models(
    given: PlanningRound, client: SolverClient, length: int, largest_model: int
) -> Iterator[Selection]:
    """Yield the models of a round, in the shortest steps that the solver can count, then in longer.

    The first is the whole selection where that is within all limits. The last is yielded
    whether the solver can count it or not. There are none where none of the jobs can start now.

    Parameters
    ----------
    given
        The round; its first jobs are modelled.
    client
        The solver, and the formulation of its models.
    length
        Maximum number of jobs.
    largest_model
        Maximum number of decision variables; larger models get fewer jobs.

    Raises
    ------
    OverflowError
        No steps are long enough for the objective.
    """
    some = False
    for step in STEPS:
        while True:
            options = given.options._replace(length=length, step=step)
            try:
                model = _part(given, options)
            # Costs in so short steps are too large for whole numbers; longer steps make smaller
            # ones.
            except OverflowError:
                break
            if model is None:
                return
            # Halving, not one job less: each try builds the data of a model.
            if length > 1 and client.formulation.variables(model.data) > largest_model:
                length = min(length, len(model.jobs)) // 2
                continue
            if client.can_count(model.data) or step == STEPS[-1]:
                some = True
                yield model
            break
    if not some:
        raise OverflowError(f"steps of {STEPS[-1]} s are too short for the objective")


def _part(given: PlanningRound, options: SelectionOptions) -> Selection | None:
    """Return the first jobs of the whole, as many as the options allow; or the whole itself."""
    whole, now = given.selection, given.problem.now
    if options.length >= len(whole.jobs) and (options.step, options.largest) == (1, whole.largest):
        return whole
    return select(
        given.problem, whole.jobs, options, lambda jobs: given.objective.cost_of(jobs, now)
    )
