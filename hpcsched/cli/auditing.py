"""Audits a run directory against the scenario, system and trace that it names."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hpcsched.results.audit.violations import AuditReport
    from hpcsched.results.directory import RunDirectory


def audit_directory(run: "RunDirectory") -> "AuditReport":
    """Return what an audit of a run has checked and found.

    Raises InputError where its scenario is not valid here, or its trace cannot be read.
    """
    from hpcsched.assembly import assemble
    from hpcsched.results.audit.auditor import audit
    from hpcsched.results.audit.summary import Declared
    from hpcsched.scenario import load_scenario

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
    return audit(
        run,
        parts.system,
        parts.source,
        declared,
        kill_at_requested_time=scenario.simulation.kill_at_requested_time,
        partitions=parts.partitions,
        outages=parts.outages,
    )
