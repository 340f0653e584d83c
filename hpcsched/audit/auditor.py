"""The audit of a run: the list of all rules."""

from hpcsched.audit import (
    device_checks,
    file_checks,
    job_checks,
    limits,
    outage_checks,
    partitions,
    preemption_checks,
    reason_checks,
    rounds,
    shared_resource_checks,
    summary,
)
from hpcsched.audit.columns import AuditedRun, Replayed
from hpcsched.audit.violations import AuditReport, Rule

JOB_RULES: tuple[Rule[Replayed], ...] = (
    job_checks.presence,
    job_checks.requests,
    job_checks.times,
    job_checks.places,
    job_checks.capacity,
    job_checks.dependencies,
    partitions.refusals,
    partitions.partition_nodes,
    limits.group_limits,
    shared_resource_checks.draws,
    shared_resource_checks.largest_draws,
    outage_checks.service,
    outage_checks.announced,
    outage_checks.losses,
    outage_checks.losses_of_jobs,
    outage_checks.lost_requests,
    device_checks.devices,
    preemption_checks.preemptions,
    preemption_checks.attempt_times,
)
"""Rules for which jobs, attempts and the conditions of their replay are enough."""

RULES: tuple[Rule[AuditedRun], ...] = (
    file_checks.trace_files,
    *JOB_RULES,
    partitions.descriptions,
    job_checks.recorded_starts,
    shared_resource_checks.shared_resource_figures,
    shared_resource_checks.shared_resource_records,
    outage_checks.recorded_outages,
    outage_checks.outage_figures,
    preemption_checks.preemption_figures,
    summary.account,
    summary.round_figures,
    rounds.round_rows,
    rounds.choices,
    rounds.requested_rounds,
    rounds.backfilled,
    rounds.amounts_of_rounds,
    reason_checks.reasons,
    file_checks.observer_files,
    file_checks.event_log,
    file_checks.usage,
    summary.summary_figures,
    summary.offline_plan,
    file_checks.manifest,
    file_checks.files,
)
"""All rules of the audit."""


def audit(at: AuditedRun) -> AuditReport:
    """Check a run against its trace and its scenario."""
    checks = (rule(at) for rule in RULES)
    return AuditReport(tuple(check for check in checks if check is not None))
