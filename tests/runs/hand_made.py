"""A small run made by hand: jobs with starts and places, and the rounds that follow from them."""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

import hpcsched
from hpcsched.audit.auditor import audit
from hpcsched.audit.columns import Declared, Replayed, open_run, read_trace
from hpcsched.audit.violations import AuditReport, Check
from hpcsched.dispatching import objectives
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.runs.directory import RunDirectory, create
from hpcsched.runs.files import MANIFEST, SUMMARY, TIMING, write_json
from hpcsched.runs.manifest import Status, file_hashes, finish_manifest, start_manifest
from hpcsched.runs.recorder import RunRecorder
from hpcsched.runs.summary import (
    ChosenMetric,
    ChosenObjective,
    Measures,
    Remaining,
    measured_times,
    summarize,
)
from hpcsched.runs.tables import RunRecords
from hpcsched.simulation.records import Interruption, JobRecord, RoundRecord
from hpcsched.system.space import NodeAllocation
from hpcsched.system.system import NodeGroup, System
from hpcsched.testing.replaying import columns_of, lost_attempts
from hpcsched.whole_files import write_text
from hpcsched.workload.job import TracedJob
from hpcsched.workload.trace_source import TraceAccount
from tests.builders import traced

SYSTEM = System(
    (
        NodeGroup("thin", 3, {"core": 4, "mem": 16}),
        NodeGroup("fat", 1, {"core": 4, "mem": 64, "gpu": 2}),
    )
)
METRICS = {
    name: ChosenMetric(metric, parameters)
    for name, metric, parameters in (
        ("mean_bounded_slowdown", objectives.BoundedSlowdown(10), {"tau": 10}),
        ("mean_slowdown", objectives.Slowdown(), {}),
        ("mean_wait_time", objectives.WaitTime(), {}),
        ("mean_response_time", objectives.AF(), {}),
        ("area_weighted_response_time", objectives.AWF(), {}),
        ("p2sf", objectives.PSF(2.0), {"alpha": 2.0}),
        ("utilization", objectives.Utilization(), {}),
        ("makespan", objectives.Makespan(), {}),
        ("loss_of_capacity", objectives.LossOfCapacity(), {}),
    )
}
DECLARED = Declared(
    name="by-hand",
    seed=0,
    definitions={
        name: {
            "unit": chosen.metric.unit,
            "population": chosen.metric.population,
            "parameters": chosen.parameters,
        }
        for name, chosen in METRICS.items()
    },
    objective="mean_bounded_slowdown",
    objective_parameters={"tau": 10},
    percentiles=(50, 90, 99),
    class_bounds=(3600, 18000),
    distributions=frozenset({"hpcsched"}),
    charge=None,
    not_reproducible=(),
    offline=False,
)


class Placed(NamedTuple):
    """A job of the trace, when it started (None: rejected), and its units by node."""

    traced: TracedJob
    start: int | None
    places: dict[int, int]

    @property
    def end(self) -> int:
        """When it ended."""
        assert self.start is not None
        return self.start + self.traced.run_time


def job(job_id: int, submit: int, units: int, request: tuple[int, ...], run_time: int, **more: Any):
    """Return a job of the trace that requests twice its run time."""
    requested = 2 * run_time + 1
    return traced(job_id, submit, units, run_time, request, requested_time=requested, **more)


JOBS = (
    Placed(job(1, 0, 3, (4, 2, 0), 100, one_unit_per_node=True), 0, {0: 1, 1: 1, 2: 1}),
    Placed(job(2, 0, 2, (1, 8, 1), 50, user=7), 0, {3: 2}),
    Placed(job(3, 10, 4, (2, 1, 0), 3700), 100, {0: 2, 1: 2}),
    Placed(job(4, 20, 1, (1, 1, 0), 20_000, node_groups=frozenset({"thin"})), 100, {2: 1}),
    Placed(job(5, 30, 1, (1, 1, 0), 40, exclusive=True), 50, {3: 1}),
    Placed(job(6, 60, 1, (4, 1, 0), 0), 90, {3: 1}),
    Placed(job(7, 60, 2, (2, 4, 0), 30), 90, {3: 2}),
)
REJECTED = Placed(job(8, 61, 99, (4, 1, 0), 10), None, {})


class Trace:
    """A trace source over jobs in memory, with a file to take the hash of."""

    comments = ("made by hand",)
    uniform_request = None
    fraction_read = 1.0

    def __init__(self, folder: Path, jobs: Sequence[TracedJob]) -> None:
        self._jobs = jobs
        self.account = TraceAccount()
        file = folder / "trace.txt"
        self.files: Sequence[Path] = (file,)
        if not file.exists():
            file.write_text("a trace")

    def jobs(self) -> Iterator[TracedJob]:
        """Yield the jobs and count them, and one record that was skipped."""
        self.account = TraceAccount(read=1)
        self.account.skipped["zero_run_time"] += 1
        for one in self._jobs:
            self.account.read += 1
            self.account.submitted += 1
            yield one


def held(placed: Placed, r: int) -> int:
    """Return what a job holds of a resource type while it runs."""
    wanted = placed.traced.job
    if wanted.exclusive:
        return sum(int(SYSTEM.capacity[node, r]) for node in placed.places)
    return wanted.units * wanted.unit_request[r]


def rounds_of(jobs: Sequence[Placed]) -> Iterator[RoundRecord]:
    """Yield a round for each instant at which something happens while jobs wait.

    Jobs of no length start in a round of their own, before the others of the instant.
    """
    ran = [p for p in jobs if p.start is not None]
    instants = {p.traced.job.submit_time for p in jobs}
    instants |= {p.start for p in ran} | {p.end for p in ran}
    number = 0
    for now in sorted(instants):
        before = [p for p in ran if p.traced.job.submit_time <= now <= p.start]
        refused = [p for p in jobs if p.start is None and p.traced.job.submit_time == now]
        if not before and not refused:
            continue
        brief = [p for p in before if p.start == now == p.end]
        lasting = [p for p in before if p.start == now < p.end]
        if brief:
            number += 1
            yield round_of((number, now), ran, before, brief, len(refused))
            before, refused = [p for p in before if p not in brief], []
        if lasting or not brief:
            number += 1
            yield round_of((number, now), ran, before, lasting, len(refused))


def round_of(
    at: tuple[int, int],
    ran: Sequence[Placed],
    before: Sequence[Placed],
    started: Sequence[Placed],
    refused: int,
) -> RoundRecord:
    """Return the round, by number and time, that starts some of the jobs that wait."""
    number, now = at
    waiting = [p for p in before if p not in started]
    running = [p for p in ran if p.start < now < p.end]
    types = range(len(SYSTEM.resource_types))
    asked = [sum(p.traced.job.units * p.traced.job.unit_request[r] for p in waiting) for r in types]
    free = [SYSTEM.totals[r] - sum(held(p, r) for p in (*running, *started)) for r in types]
    return RoundRecord(
        number,
        now,
        len(before) + refused,
        len(running),
        len(started),
        refused,
        len(waiting),
        tuple(asked),
        tuple(free),
        0,
        (0,) * len(types),
        number / 1024,
        False,
        None,
    )


def left_at(placed: Placed) -> int:
    """Return when a job left the system."""
    return placed.traced.job.submit_time if placed.start is None else placed.end


def record_of(placed: Placed) -> JobRecord:
    """Return the record of a job that has left the system."""
    wanted = placed.traced.job
    allocation = NodeAllocation(tuple(placed.places), tuple(placed.places.values()))
    demand = SYSTEM.demand(wanted.units, wanted.unit_request)
    if placed.start is None:
        return JobRecord(wanted, demand, 60, "rejected", None, None, None, "dispatcher")
    return JobRecord(wanted, demand, 60, "completed", placed.start, placed.end, allocation)


def row(
    traced: TracedJob, start: int | None, places: dict[int, int] | None = None, /, **changed: Any
) -> JobRecord:
    """Return the record of a job that started then, or was rejected, with some values changed."""
    return record_of(Placed(traced, start, places or {}))._replace(**changed)


def replayed(
    jobs: Sequence[TracedJob],
    records: Sequence[JobRecord],
    *lost: Interruption,
    system: System = SYSTEM,
    **conditions: Any,
) -> Replayed:
    """Return a trace and what became of its jobs, as the rules of the audit see them."""
    return Replayed(
        system=system,
        trace=read_trace(jobs, system),
        jobs=columns_of(records, system),
        lost=lost_attempts(lost, system),
        **conditions,
    )


def write_run(
    folder: Path,
    jobs: Sequence[Placed] = JOBS,
    *,
    name: str = "by-hand",
    status: Status = "complete",
    until: int | None = None,
) -> RunDirectory:
    """Write a run directory as a run does, and open it; the trace's file lies beside it.

    A run may be broken off after the instant `until`.
    """
    source = Trace(folder.parent, [p.traced for p in jobs])
    last = max((left_at(p) for p in jobs), default=0) if until is None else until
    create(folder).release()
    manifest = start_manifest(
        folder,
        scenario=name,
        seed=0,
        trace_files=source.files,
        plugins={"hpcsched": hpcsched.__version__},
    )
    write_text(folder / "scenario.yaml", f"name: {name}\n")
    recorder = RunRecorder(folder, SYSTEM)
    list(source.jobs())
    for placed in sorted(jobs, key=left_at):
        if left_at(placed) <= last:
            recorder.job_ended(record_of(placed))
    for record in rounds_of(jobs):
        if record.now <= last:
            recorder.round_ended(record)
    recorder.close()
    submitted = [p for p in jobs if p.traced.job.submit_time <= last < left_at(p)]
    running = [p for p in submitted if p.start is not None and p.start <= last]
    left = None if until is None else Remaining(len(submitted) - len(running), len(running))
    measures = Measures(
        capacity=dict(zip(SYSTEM.resource_types, SYSTEM.totals, strict=True)),
        metrics=METRICS,
        objective=ChosenObjective("mean_bounded_slowdown", BoundedSlowdown(10), {"tau": 10}),
        percents=(50, 90, 99),
        class_bounds=(3600, 18000),
    )
    records = RunRecords(folder)
    summary = summarize(records, measures, source.account, left)
    write_json(folder / SUMMARY, summary)
    write_json(folder / TIMING, {"rounds": measured_times(records.rounds)})
    finish_manifest(folder, manifest, status, source.comments)
    return RunDirectory.open(folder)


def audit_run(
    run: RunDirectory,
    trace: Sequence[TracedJob] | None = None,
    *,
    kill: bool = False,
    declared: Declared = DECLARED,
) -> AuditReport:
    """Audit a run as it lies on the disk now."""
    source = Trace(run.path.parent, trace or [p.traced for p in JOBS])
    opened = RunDirectory.open(run.path)
    return audit(open_run(opened, SYSTEM, source, declared, kill_at_requested_time=kill))


def found_by(check: Check | None) -> list[str]:
    """Return the violations of a rule that applies."""
    assert check is not None
    return check.violations


def messages(report: AuditReport) -> str:
    """Return all violations as one text."""
    return "\n".join(line for check in report.checks for line in check.violations)


def tamper_jobs(run: RunDirectory, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of `jobs.parquet` in place, as one does who knows of hashes."""
    path = run.path / "jobs.parquet"
    table = pq.read_table(path)
    rows = table.to_pylist()
    change(rows)
    pq.write_table(table.from_pylist(rows, schema=table.schema), path)
    seal(run.path)


def tamper_json(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    """Change the content of a JSON file of a run in place, as one does who knows of hashes."""
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
    if path.name != MANIFEST:
        seal(path.parent)


def seal(folder: Path) -> None:
    """Have the manifest of a run hold the hashes of the files as they are now."""
    path = folder / MANIFEST
    content = json.loads(path.read_text())
    content["files"] = file_hashes(folder)
    path.write_text(json.dumps(content))
