"""Replays of a few jobs under a dispatcher, without a scenario, and their audit."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from hpcsched.audit.columns import RunColumns, flags_of, lost_columns, match, read_trace, with_lost
from hpcsched.audit.job_checks import (
    check_capacity,
    check_dependencies,
    check_places,
    check_presence,
    check_requests,
    check_times,
)
from hpcsched.audit.outage_checks import check_outages
from hpcsched.audit.partitions import check_partitions
from hpcsched.audit.shared_resource_checks import check_shared_resources
from hpcsched.dispatching.allocator import Allocator
from hpcsched.dispatching.dispatcher_protocol import Dispatcher, JobEventObserver
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.dispatching.problem import RunningJob
from hpcsched.dispatching.rules.allocators import FirstFit
from hpcsched.dispatching.rules.core_rules import CoreRule, list_rule
from hpcsched.dispatching.rules.orders import ArrivalOrder, QueueOrder
from hpcsched.errors import HpcschedError
from hpcsched.prediction.predictor import Correction, OneSecond, Oracle, Predictor
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import System
from hpcsched.testing.building import SampleWorkload, sample_workloads, uniform_request
from hpcsched.workload.job import TracedJob
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions


@dataclass(frozen=True, slots=True)
class ReplayConditions:
    """Conditions of a replay, which its audit has to know too."""

    kill_at_requested_time: bool = False
    outages: Outages = NO_OUTAGES


BY_DEFAULT = ReplayConditions()
"""No outages, and jobs run as long as they need."""


class _Records(Observer):
    def __init__(self) -> None:
        self.records: list[JobRecord] = []

    def job_ended(self, record: JobRecord) -> None:
        self.records.append(record)


def replay(
    dispatcher: Dispatcher,
    jobs: Sequence[TracedJob],
    system: System,
    predictor: Predictor | Oracle | None = None,
    *,
    correction: Correction | None = None,
    observers: Sequence[Observer] = (),
    aggregated: bool = False,
    conditions: ReplayConditions = BY_DEFAULT,
) -> list[JobRecord]:
    """Replay jobs to the end and return their records, in the order in which they left the system.

    Parameters
    ----------
    jobs : sequence of TracedJob
        The jobs, by ascending submit time.
    predictor : Predictor or Oracle, optional
        The predictor; dispatchers plan with requested times by default.
    correction : Correction, optional
        The correction of outlived predictions. By default such jobs are said to end in a second.
    aggregated : bool
        True: show the dispatcher slots instead of nodes, for jobs that all ask for the same. With
        outages it is shown nodes in any case.

    Raises
    ------
    DecisionError
        If a decision cannot be carried out or jobs wait for ever.
    """
    records = _Records()
    parts = Parts(
        system,
        dispatcher,
        type(dispatcher).__name__,
        RequestedTime() if predictor is None else predictor,
        BoundedSlowdown(),
        (records, *observers),
        uniform_request([traced.job for traced in jobs]) if aggregated else None,
        conditions.kill_at_requested_time,
        correction=OneSecond() if correction is None else correction,
        dependencies=any(traced.job.after for traced in jobs),
        outages=conditions.outages,
    )
    simulate(parts, jobs)
    return records.records


def start_times(records: Iterable[JobRecord]) -> dict[int, int | None]:
    """Return the start time of each job, in seconds, by job number; None if it was rejected."""
    ordered = sorted(records, key=lambda record: record.job.job_id)
    return {record.job.job_id: record.start_time for record in ordered}


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


SEEDS = range(3)
"""Seeds of the sample workloads of a check."""


class Told(Observer):
    """Observer that tells a dispatcher, an order or an allocator of starts and ends."""

    def __init__(self, follower: JobEventObserver) -> None:
        self._follower = follower
        self._running: dict[int, RunningJob] = {}

    def job_started(self, job: RunningJob) -> None:
        """Pass on the start."""
        self._running[job.job_id] = job
        self._follower.job_started(job)

    def job_ended(self, record: JobRecord) -> None:
        """Pass on the end, unless the job was rejected."""
        running = self._running.pop(record.job.job_id, None)
        if running is not None and record.end_time is not None:
            self._follower.job_ended(running, record.end_time)


def told(*plugins: object) -> Sequence[Observer]:
    """Return observers that pass starts and ends on to the plugins that follow jobs."""
    return [Told(plugin) for plugin in plugins if isinstance(plugin, JobEventObserver)]


def backfilling(order: QueueOrder | None = None, allocator: Allocator | None = None) -> CoreRule:
    """Return a list scheduler that starts each job that fits, by default as jobs arrive."""
    return list_rule(order or ArrivalOrder(), "backfill", allocator or FirstFit())


def workloads(seeds: Iterable[int]) -> Iterator[tuple[SampleWorkload, str]]:
    """Yield the sample workloads of some seeds, with their names for notes."""
    for seed in seeds:
        for workload in sample_workloads(seed):
            yield workload, f"on sample workload {workload.name!r}, seed {seed}"


@contextmanager
def noted(where: str) -> Iterator[None]:
    """Add a note to errors of the block, and raise the assertion behind an error of hpcsched."""
    try:
        yield
    except HpcschedError as error:
        cause = error.__cause__
        if not isinstance(cause, AssertionError):
            error.add_note(where)
            raise
        # The assertion of a check, which hpcsched took for the plugin's own exception.
        cause.add_note(where)
        raise cause from None
    except Exception as error:
        error.add_note(where)
        raise


def expect(fault: str | None, whose: str = "") -> None:
    """Raise an AssertionError if there is a fault."""
    if fault is not None:
        raise AssertionError(f"{whose}: {fault}" if whose else fault)
