"""Replays of a few jobs under a dispatcher, without a scenario, and their audit."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pyarrow as pa

from hpcsched.audit.auditor import JOB_RULES
from hpcsched.audit.columns import (
    LostColumns,
    Replayed,
    RunColumns,
    lost_columns,
    read_trace,
    run_columns,
)
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
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.recorder import table_of_jobs
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Interruption, JobRecord
from hpcsched.system.outages import NO_OUTAGES, Outages
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
    # The audit reads tables, never the simulator's state, so that it cannot share its faults.
    at = Replayed(
        system=system,
        trace=read_trace(jobs, system),
        jobs=columns_of(records, system),
        lost=lost_attempts(interruptions, system),
        partitions=partitions,
        outages=conditions.outages,
        kill_at_requested_time=conditions.kill_at_requested_time,
    )
    checks = [rule(at) for rule in JOB_RULES]
    violations = [text for check in checks if check is not None for text in check.violations]
    if violations:
        raise AssertionError("\n".join(["the replay is not valid:", *violations]))


def columns_of(records: Sequence[JobRecord], system: System) -> RunColumns:
    """Return job records as the audit sees their table."""
    return run_columns(table_of_jobs(system, records), system)


def lost_attempts(interruptions: Sequence[Interruption], system: System) -> LostColumns:
    """Return lost attempts as the audit sees their table."""
    rows = [
        {
            **at._asdict(),
            "job_id": at.job.job_id,
            "units": at.job.units,
            "unit_request": at.job.unit_request,
            "nodes": at.allocation.nodes,
            "node_units": at.allocation.units,
        }
        for at in interruptions
    ]
    return lost_columns(pa.Table.from_pylist(rows, interruptions_schema()), system)


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
