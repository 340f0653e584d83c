"""Audit of a replay with the checks of `hpcsched verify`, independent of the simulator."""

from collections.abc import Sequence

import numpy as np

from hpcsched.audit.attempts import lost_columns, with_lost
from hpcsched.audit.capacity import check_capacity
from hpcsched.audit.columns import RunColumns, flags_of, match, read_trace
from hpcsched.audit.dependencies import check_dependencies
from hpcsched.audit.jobs import check_presence, check_requests, check_times
from hpcsched.audit.outage_checks import check_outages
from hpcsched.audit.partitions import check_partitions
from hpcsched.audit.places import check_places
from hpcsched.audit.shared_resource_checks import check_shared_resources
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.allocation import NodeAllocation
from hpcsched.system.system import System
from hpcsched.testing.replaying import BY_DEFAULT, ReplayConditions
from hpcsched.workload.job import TracedJob
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions


def audit_replay(
    records: Sequence[JobRecord],
    jobs: Sequence[TracedJob],
    system: System,
    *,
    conditions: ReplayConditions = BY_DEFAULT,
    partitions: Partitions = NO_PARTITIONS,
    interruptions: Sequence[Interruption] = (),
) -> None:
    """Check that job records are a valid replay of the jobs.

    Every job is there exactly once; none starts before its submission; each ends when it must; all
    its units are placed on eligible nodes; no node is ever overcommitted; jobs wait for others
    where they must; partitions are kept; no start overdraws a shared resource.

    Raises
    ------
    AssertionError
        If the replay is invalid, with all violations.
    """
    # The audit reads columns, never the simulator's state, so that it cannot share its faults.
    trace, run = read_trace(jobs, system), run_columns(records, system)
    lost = lost_columns(
        [(at.job.job_id, at.start_time, at.end_time, at.requeued) for at in interruptions],
        [list(at.allocation.nodes) for at in interruptions],
        [list(at.allocation.units) for at in interruptions],
    )
    attempts = with_lost(run, lost)
    rows, all_rows = match(trace, run), match(trace, attempts)
    checks = (
        check_presence(trace, run, partial=False),
        check_requests(trace, run, rows, system),
        check_times(trace, run, rows, kill_at_requested_time=conditions.kill_at_requested_time),
        check_places(trace, attempts, all_rows, system),
        check_capacity(attempts, system),
        *check_dependencies(trace, run, rows),
        *check_partitions(trace, attempts, all_rows, system, partitions),
        *check_shared_resources(trace, attempts, all_rows, system),
        *check_outages(trace, (attempts, lost), all_rows, system, conditions.outages),
    )
    violations = [violation for check in checks for violation in check.violations]
    if violations:
        raise AssertionError("\n".join(["the replay is not valid:", *violations]))


def run_columns(records: Sequence[JobRecord], system: System) -> RunColumns:
    """Return job records as the columns that the checks read."""
    jobs = [record.job for record in records]
    places = [record.allocation or NodeAllocation((), ()) for record in records]
    # Rejected jobs have no start; `has_start` tells their 0 from the second 0.
    start = np.array([record.start_time or 0 for record in records], dtype=np.int64)
    end = np.array([record.end_time or 0 for record in records], dtype=np.int64)
    requests = np.array([job.unit_request for job in jobs], dtype=np.int64)
    return RunColumns(
        job_id=np.array([job.job_id for job in jobs], dtype=np.int64),
        submit_time=np.array([job.submit_time for job in jobs], dtype=np.int64),
        units=np.array([job.units for job in jobs], dtype=np.int64),
        unit_request=requests.reshape(len(jobs), len(system.resource_types)),
        requested_time=np.array([job.requested_time for job in jobs], dtype=np.int64),
        predicted_run_time=np.array([r.predicted_run_time for r in records], dtype=np.int64),
        demand=[record.demand for record in records],
        flags=flags_of([job.request for job in jobs]),
        state=np.array([record.state for record in records], dtype=np.str_),
        rejected_by=np.array([record.rejected_by or "" for record in records], dtype=np.str_),
        has_start=np.array([record.start_time is not None for record in records], dtype=np.bool_),
        start_time=start,
        has_end=np.array([record.end_time is not None for record in records], dtype=np.bool_),
        end_time=end,
        has_run_time=np.array([record.end_time is not None for record in records], dtype=np.bool_),
        run_time=end - start,
        places=np.array([len(place.nodes) for place in places], dtype=np.int64),
        unpaired=np.zeros(len(records), dtype=np.bool_),
        node=np.array([node for place in places for node in place.nodes], dtype=np.int64),
        node_units=np.array([units for place in places for units in place.units], dtype=np.int64),
        requeues=np.array([record.requeues for record in records], dtype=np.int64),
        lost_time=np.array([record.lost_time for record in records], dtype=np.int64),
    )
