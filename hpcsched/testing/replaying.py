"""Replays of a few jobs, without a scenario and with one, their audit, and notes on errors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from typing import TypeVar

import pyarrow as pa

import hpcsched
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.plugin_faults import PluginOrigin, remember
from hpcsched.plugins.plugin_checks import product_fault
from hpcsched.prediction.predictor import Correction, OneSecond
from hpcsched.prediction.predictors import RequestedTime
from hpcsched.runs.columns import interruptions_schema
from hpcsched.runs.recorder import table_of_jobs
from hpcsched.simulation.event_loop import simulate
from hpcsched.simulation.parts import Parts
from hpcsched.system.outages import NO_OUTAGES, Outages
from hpcsched.testing.building import SampleWorkload, sample_workloads, uniform_request
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions


class _Records(hpcsched.Observer):
    def __init__(self) -> None:
        self.records: list[hpcsched.JobRecord] = []

    def job_ended(self, record: hpcsched.JobRecord) -> None:
        self.records.append(record)


def replay(
    dispatcher: hpcsched.Dispatcher,
    jobs: Sequence[hpcsched.TracedJob],
    system: hpcsched.System,
    predictor: hpcsched.Predictor | hpcsched.Oracle | None = None,
    *,
    correction: Correction | None = None,
    observers: Sequence[hpcsched.Observer] = (),
    followers: Sequence[object] = (),
    aggregated: bool = False,
    kill_at_requested_time: bool = False,
    outages: Outages = NO_OUTAGES,
) -> list[hpcsched.JobRecord]:
    """Replay jobs to the end and return their records, in the order in which they left the system.

    Parameters
    ----------
    jobs : sequence of hpcsched.TracedJob
        The jobs, by ascending submit time.
    predictor : hpcsched.Predictor or hpcsched.Oracle, optional
        The predictor; dispatchers plan with requested times by default.
    correction : Correction, optional
        The correction of outlived predictions. By default such jobs are said to end in a second.
    followers : sequence of object
        Queue orders and allocators of the dispatcher; those that follow jobs are told of starts and
        ends, as the dispatcher is.
    aggregated : bool
        True: show the dispatcher slots instead of nodes, for jobs that all ask for the same. With
        outages it is shown nodes in any case.
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
        kill_at_requested_time,
        correction=OneSecond() if correction is None else correction,
        followers=[
            one for one in (dispatcher, *followers) if isinstance(one, hpcsched.JobEventObserver)
        ],
        dependencies=any(traced.job.after for traced in jobs),
        outages=outages,
    )
    simulate(parts, jobs)
    return records.records


def start_times(records: Iterable[hpcsched.JobRecord]) -> dict[int, int | None]:
    """Return the start time of each job, in seconds, by job number; None if it was rejected."""
    ordered = sorted(records, key=lambda record: record.job.job_id)
    return {record.job.job_id: record.start_time for record in ordered}


def audit_replay(
    records: Sequence[hpcsched.JobRecord],
    jobs: Sequence[hpcsched.TracedJob],
    system: hpcsched.System,
    *,
    kill_at_requested_time: bool = False,
    outages: Outages = NO_OUTAGES,
    partitions: Partitions = NO_PARTITIONS,
    interruptions: Sequence[hpcsched.Interruption] = (),
) -> None:
    """Check that job records are a valid replay; an AssertionError lists all violations.

    Every job is there exactly once; none starts before its submission; each ends when it must; all
    its units are placed on eligible nodes; no node is ever overcommitted; jobs wait for others
    where they must; partitions are kept; no start overdraws a shared resource.
    """
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


def workloads(
    seeds: Iterable[int], forms: Iterable[str] = ("",)
) -> Iterator[tuple[SampleWorkload, str, str]]:
    """Yield the sample workloads of some seeds in each form, and names for notes.

    Parameters
    ----------
    forms
        `nodes` or `slots`, in which free resources are stated; slots where all units are equal.
    """
    for seed in seeds:
        for workload, form in product(sample_workloads(seed), forms):
            if workload.uniform or form != "slots":
                where = f"on sample workload {workload.name!r}, seed {seed}"
                yield workload, form, f"{where}, as {form}" if form else where


@contextmanager
def noted(where: str) -> Iterator[None]:
    """Add a note to errors of the block."""
    try:
        yield
    except Exception as error:
        error.add_note(where)
        raise


def expect(holds: object, expected: str, *found: object) -> None:
    """Raise an AssertionError with the expectation and the findings unless a condition holds."""
    if not holds:
        told = f", found {' and '.join(map(repr, found))}" if found else ""
        raise AssertionError(f"{expected}{told}")


def expect_no(fault: str | None, whose: str = "") -> None:
    """Raise an AssertionError if there is a fault."""
    expect(fault is None, f"{whose}{fault}")


_Made = TypeVar("_Made")


def under_test(make: Callable[[], _Made], kind: str) -> _Made:
    """Return a new plugin that replays treat as a third party's, with checks of its answers."""
    made = make()
    expect_no(product_fault(made, kind))
    remember(made, PluginOrigin(kind, type(made).__name__, "the plugin", "under test"))
    return made
