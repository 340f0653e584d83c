"""`hpcsched verify`: audit a run by means that share nothing with the simulator."""

from pathlib import Path
from typing import Annotated

import typer


def verify(
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="The run directory.", show_default=False)
    ],
) -> None:
    """Check a run against its trace and system, and its figures against its jobs.

    Prints what was checked and every violation found; exits with 1 if there is one.
    """
    from hpcsched.assembly import assemble
    from hpcsched.report.audit import audit_lines
    from hpcsched.results.audit.auditor import audit
    from hpcsched.results.audit.summary import Declared
    from hpcsched.results.directory import RunDirectory
    from hpcsched.scenario import load_scenario

    run = RunDirectory.open(directory)
    if run.partial:
        typer.echo(f"partial: the run was {run.manifest.status}; what it holds is checked")
    scenario = load_scenario(run.scenario_path)
    parts = assemble(scenario)
    objective = scenario.objective
    declared = Declared(
        metric_parameters={
            name: scenario.metrics.parameters(name).model_dump(mode="json")
            for name in run.summary["metrics"]
        },
        objective=objective.plugin_name,
        objective_parameters=objective.model_dump(mode="json", exclude={"name"}),
    )
    report = audit(
        run,
        parts.system,
        parts.source,
        declared,
        kill_at_requested_time=scenario.simulation.kill_at_requested_time,
        partitions=parts.partitions,
    )
    for line in audit_lines(report):
        typer.echo(line)
    if not report.ok:
        raise typer.Exit(1)
