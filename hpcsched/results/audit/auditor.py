"""The audit of a run, check by check."""

from hpcsched.results.audit.account import check_account, check_rounds
from hpcsched.results.audit.attempts import read_lost, with_lost
from hpcsched.results.audit.capacity import check_capacity
from hpcsched.results.audit.columns import match, read_run, read_trace
from hpcsched.results.audit.dependencies import check_dependencies
from hpcsched.results.audit.jobs import check_presence, check_requests, check_times
from hpcsched.results.audit.offline import check_offline
from hpcsched.results.audit.outages import (
    check_outage_figures,
    check_outages,
    check_recorded_outages,
)
from hpcsched.results.audit.partitions import check_partitions
from hpcsched.results.audit.places import check_places
from hpcsched.results.audit.pools import check_pool_figures, check_pools
from hpcsched.results.audit.summary import Declared, check_figures
from hpcsched.results.audit.violations import AuditReport, Check
from hpcsched.results.directory import RunDirectory
from hpcsched.results.files import KNOWN, OPTIONAL
from hpcsched.results.manifest import Manifest, file_hashes, sha256
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.system import System
from hpcsched.workload.partitions import NO_PARTITIONS, Partitions
from hpcsched.workload.source import TraceSource


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
    """Check a run against its trace, which is read again, and against what its scenario declares.

    That is its system, partitions and outages. A partial run is checked for what it holds. Raises
    InputError where the trace or a file of the run cannot be read.
    """
    files = _check_files(run)
    trace_files = _check_trace_files(run.manifest, source)
    trace = read_trace(source.jobs(), system)
    columns = read_run(run, system)
    lost = read_lost(run)
    attempts = with_lost(columns, lost)
    rows, all_rows = match(trace, columns), match(trace, attempts)
    partial = run.partial
    return AuditReport(
        (
            trace_files,
            check_presence(trace, columns, partial=partial),
            check_requests(trace, columns, rows, system),
            check_times(trace, columns, rows, kill_at_requested_time=kill_at_requested_time),
            check_places(trace, attempts, all_rows, system),
            check_capacity(attempts, system),
            *check_dependencies(trace, columns, rows),
            *check_partitions(trace, attempts, all_rows, system, partitions),
            *check_pools(trace, attempts, all_rows, system),
            *check_pool_figures(run.summary, trace, attempts, all_rows, system, partial=partial),
            *check_recorded_outages(run, outages),
            *check_outages(trace, (attempts, lost), all_rows, system, outages),
            *check_outage_figures(run.summary, attempts, lost, system, outages),
            check_account(run.summary["jobs"], columns, source.account, partial=partial),
            check_rounds(run, attempts),
            check_figures(
                run.summary,
                columns,
                system,
                declared,
                partial=partial,
                attempts=attempts,
                outages=outages,
            ),
            *check_offline(run.summary),
            files,
        )
    )


def _check_files(run: RunDirectory) -> Check:
    """Check that each file is as the manifest says that it was when the run ended."""
    check = Check("every file of the directory is as it was when the run ended, by its SHA-256")
    recorded, found = run.manifest.files, file_hashes(run.path)
    for name in sorted(recorded):
        if name in found:
            check.expect(f"SHA-256 of {name}", recorded[name], found[name])
        else:
            check.looked_at += 1
            check.found(f"{name}: expected in the directory, found it gone")
    for name in sorted(set(found) - set(recorded)):
        if name in (*KNOWN, *OPTIONAL):
            check.looked_at += 1
            check.found(f"{name}: expected its SHA-256 in the manifest, found none")
        else:
            check.notes.append(f"{name} was put there after the run")
    return check


def _check_trace_files(manifest: Manifest, source: TraceSource) -> Check:
    check = Check("the trace is the one that was run")
    recorded = {file.path: file.sha256 for file in manifest.trace_files}
    check.expect("number of trace files", len(recorded), len(source.files))
    for path in source.files:
        check.expect(f"SHA-256 of {path}", recorded.get(str(path)), sha256(path))
    return check
