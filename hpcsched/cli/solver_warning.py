"""The warning about a run with too many rounds without a plan from the solver."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsched.errors import Finding
    from hpcsched.runs.directory import RunDirectory
    from hpcsched.scenario.loading import LoadedScenario


def solver_warning(loaded: "LoadedScenario", run: "RunDirectory") -> "Finding | None":
    """Return a warning, at the scenario's dispatcher, if too many rounds had no plan.

    Returns
    -------
    Finding or None
        The warning with the first message of the solver; None if there is nothing to warn of.
    """
    from hpcsched.errors import Finding
    from hpcsched.runs.solver_rounds import warning
    from hpcsched.runs.tables import first_unsolved

    message = warning(run.solver_rounds)
    if message is None:
        return None
    first = first_unsolved(run.path)
    if first is not None:
        number, why = first
        message += f"; it said first, in round {number:,}: {' '.join(why.split())}"
    place = loaded.place(("dispatcher",))
    return Finding("solver-without-plan", message, place, "dispatcher", "warning")
