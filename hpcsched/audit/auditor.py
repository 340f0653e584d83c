"""The audit of a run: the list of all checks."""

from hpcsched.audit.columns import (
    Declared,
    expect_columns,
    match,
    read_lost,
    read_run,
    read_trace,
    with_lost,
)
from hpcsched.audit.file_checks import (
    check_event_log,
    check_files,
    check_manifest,
    check_observer_files,
    check_trace_files,
    check_usage,
)
from hpcsched.audit.job_checks import (
    check_capacity,
    check_dependencies,
    check_places,
    check_presence,
    check_recorded_starts,
    check_requests,
    check_times,
    due_times,
)
from hpcsched.audit.outage_checks import (
    check_outage_figures,
    check_outages,
    check_recorded_outages,
)
from hpcsched.audit.partitions import check_descriptions, check_lost_requests, check_partitions
from hpcsched.audit.reason_checks import ReasonDetails, check_reasons
from hpcsched.audit.room import check_room
from hpcsched.audit.rounds import (
    check_call_again,
    check_choices,
    check_round_rows,
    conditions_of,
    happenings,
    read_rounds,
)
from hpcsched.audit.shared_resource_checks import (
    check_recorded_shared_resources,
    check_shared_resource_figures,
    check_shared_resources,
)
from hpcsched.audit.summary import check_account, check_figures, check_offline, check_rounds
from hpcsched.audit.violations import AuditReport
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import OUTAGES
from hpcsched.runs.manifest import keeps_answers
from hpcsched.system.outages import NO_OUTAGES, Outages, down_time
from hpcsched.system.system import System
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions
from hpcsched.workload.trace_source import TraceSource, recorded_waits


def audit(
    run: RunDirectory,
    system: System,
    source: TraceSource,
    declared: Declared,
    *,
    kill_at_requested_time: bool,
    partitions: Partitions = NO_PARTITIONS,
    outages: Outages = NO_OUTAGES,
) -> AuditReport:
    """Check a run against its trace, which is read again, and against its scenario.

    Parameters
    ----------
    kill_at_requested_time
        True if the simulated system ends jobs at their requested time.
    """
    # First, so that a table with other columns is an error of input and not a crash in a check.
    expect_columns(run, system)
    trace_files = check_trace_files(run.manifest, source, kept=keeps_answers(run.path))
    waits = recorded_waits(source) if declared.follows_record else None
    trace = read_trace(source.jobs(), system)
    due = None if waits is None else due_times(trace, waits)
    # The trace and the run are read once; all checks share these arrays.
    columns = read_run(run, system)
    lost = read_lost(run)
    # Checks of resources look at every attempt, checks of jobs at the last one alone.
    attempts = with_lost(columns, lost)
    rows, all_rows = match(trace, columns), match(trace, attempts)
    partial = run.partial
    rounds, happened = read_rounds(run), happenings(trace, columns, lost)
    conditions = conditions_of(
        trace,
        columns,
        rounds,
        system,
        partitions=partitions,
        outages=outages,
        due=due,
        planned=declared.offline,
    )
    details = None
    if not declared.third_party_dispatcher:
        details = ReasonDetails(trace, columns, system, partitions, outages)
    return AuditReport(
        (
            trace_files,
            check_presence(trace, columns, partial=partial),
            check_requests(trace, columns, rows, system),
            check_descriptions(run, trace, rows, system, partitions),
            check_times(
                trace,
                columns,
                rows,
                kill_at_requested_time=kill_at_requested_time,
                predictor=declared.predictor,
            ),
            check_places(trace, attempts, all_rows, system),
            check_capacity(attempts, system),
            *check_dependencies(trace, columns, rows),
            *check_recorded_starts(
                run.summary,
                (trace, columns, rows),
                due,
                system,
                partial=partial,
                held_back=bool(partitions),
            ),
            *check_partitions(trace, attempts, all_rows, system, partitions),
            *check_shared_resources(trace, attempts, all_rows, system),
            *check_shared_resource_figures(
                run.summary, trace, attempts, all_rows, system, partial=partial
            ),
            *check_recorded_shared_resources(run, trace, attempts, all_rows, system),
            *check_recorded_outages(run, outages),
            *([check_lost_requests(run, trace, columns, lost)] if len(lost.job_id) else []),
            *check_outages(trace, (attempts, lost), all_rows, system, outages),
            *check_outage_figures(
                run.summary,
                attempts,
                lost,
                system,
                outages,
                recorded=(run.path / OUTAGES).is_file(),
            ),
            check_account(run.summary["jobs"], columns, source.account, partial=partial),
            check_rounds(run, attempts),
            check_round_rows(
                columns, rounds, happened, conditions, declared.charge, partial=partial
            ),
            *check_choices(run, declared.portfolio),
            *check_call_again(
                rounds,
                allowed=declared.calls_again,
                interval=declared.backfill_interval,
                exact=declared.charge is None and not conditions.hold_back,
            ),
            check_room(run, rounds, attempts, system, down_time(outages.all), partial=partial),
            *check_reasons(run, trace, attempts, rounds, details),
            *check_observer_files(run, declared.observers),
            *check_event_log(run, trace, attempts, lost, rounds),
            *check_usage(run, rounds),
            check_figures(
                run.summary,
                columns,
                system,
                declared,
                partial=partial,
                attempts=attempts,
                outages=outages,
            ),
            *check_offline(run.summary, expected=declared.offline and not partial),
            check_manifest(run, declared, source.comments),
            check_files(run),
        )
    )
