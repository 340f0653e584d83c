"""Figures of a run by its scenario, for its summary and for later measurements."""

from hpcsched.plugin_faults import prints_to_stderr
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.folder_lock import locked_folder
from hpcsched.runs.manifest import rehash
from hpcsched.runs.outage_records import down_amounts
from hpcsched.runs.summary import Breakdown, ChosenObjective, measure_tables, write_summary
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.system.system import System


def capacity_of(system: System) -> dict[str, int]:
    """Return the capacity of a system, by resource type."""
    return dict(zip(system.resource_types, system.totals, strict=True))


def chosen_objective(assembly: Assembly) -> ChosenObjective:
    """Return the objective of an assembled scenario, with its name and parameters."""
    choice = assembly.scenario.objective
    parameters = choice.model_dump(exclude={choice.plugin_tag})
    return ChosenObjective(choice.plugin_name, assembly.objective, parameters)


def breakdown_of(scenario: Scenario) -> Breakdown:
    """Return the percentiles and run-time classes that a scenario asks for."""
    return Breakdown(scenario.metrics.percentiles, scenario.metrics.class_bounds)


@prints_to_stderr
def measure_again(run: RunDirectory) -> RunDirectory:
    """Compute the metrics and the objective of a run again from its tables, and write them.

    The replay is not repeated. This gives a run the values of a metric whose plugin failed, once
    the plugin is mended. What does not come from the tables stays as it was: the account of jobs,
    the figures of outages, shared resources and an off-line plan.

    Returns
    -------
    RunDirectory
        The run with its new summary.

    Raises
    ------
    InputError
        The scenario is not valid here, a table is damaged, or another process writes the run.
    """
    assembly = assemble(load_scenario(run.scenario_path))
    figures = measure_tables(
        run.path,
        capacity=capacity_of(assembly.system),
        metrics=assembly.metrics(),
        objective=chosen_objective(assembly),
        breakdown=breakdown_of(assembly.scenario),
        down=down_amounts(assembly.outages, assembly.system),
    )
    kept = {key: value for key, value in run.summary.items() if key != "not_measured"}
    with locked_folder(run.path):
        write_summary(run.path, {**kept, **figures})
        return RunDirectory(run.path, rehash(run.path, run.manifest))
