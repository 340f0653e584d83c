"""Replays of a few jobs, without a scenario and with one, their audit, and notes on errors."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import TypeVar

import pyarrow as pa
import pytest

import hpcsched
from hpcsched.audit import columns
from hpcsched.audit.auditor import JOB_RULES
from hpcsched.dispatching.objectives import BoundedSlowdown
from hpcsched.plugin_faults import PluginOrigin, remember
from hpcsched.plugins.manager import build_registry, stand_in
from hpcsched.plugins.plugin_checks import product_fault
from hpcsched.plugins.registry import Registry
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
        True: tell the dispatcher the number of free units, for jobs that all ask for the same.
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
    # The audit reads tables, never the simulator's state, so that it cannot share its faults.
    at = columns.Replayed(
        system=system,
        trace=columns.read_trace(jobs, system),
        jobs=columns_of(records, system),
        lost=lost_attempts(interruptions, system),
        partitions=partitions,
        outages=outages,
        kill_at_requested_time=kill_at_requested_time,
    )
    checks = [rule(at) for rule in JOB_RULES]
    violations = [text for check in checks if check is not None for text in check.violations]
    if violations:
        raise AssertionError("\n".join(["the replay is not valid:", *violations]))


def columns_of(
    records: Sequence[hpcsched.JobRecord], system: hpcsched.System
) -> columns.RunColumns:
    """Return job records as the audit sees their table."""
    return columns.run_columns(table_of_jobs(system, records), system)


def lost_attempts(
    interruptions: Sequence[hpcsched.Interruption], system: hpcsched.System
) -> columns.LostColumns:
    """Return lost attempts as the audit sees their table."""
    rows = [
        {
            **at._asdict(),
            "job_id": at.job.job_id,
            "units": at.job.units,
            "unit_request": at.job.unit_request,
            "nodes": at.allocation.nodes,
            "node_units": at.allocation.units,
            "suspended": False,
            "run_time": at.end_time - at.start_time,
            "lost_time": at.end_time - at.start_time,
        }
        for at in interruptions
    ]
    return columns.lost_columns(pa.Table.from_pylist(rows, interruptions_schema(system)), system)


UsePlugins = Callable[..., Registry]
"""Type of the fixture `use_plugins`."""

RunScenario = Callable[..., hpcsched.RunResult]
"""Type of the fixture `run_scenario`."""


@pytest.fixture
def use_plugins() -> Iterator[UsePlugins]:
    """Let a test use the plugins of modules as if they were installed, beside built-in ones alone.

    `use_plugins(my_package.plugin)` counts for `load_scenario`, for `run`, and for commands in this
    process, such as `hpcsched.cli.main(["plugins", "list"])`. It returns the registry.
    """
    with ExitStack() as stack:

        def use(*modules: ModuleType) -> Registry:
            return stack.enter_context(stand_in(build_registry(external=False, modules=modules)))

        yield use


@pytest.fixture
def run_scenario(tmp_path: Path, use_plugins: UsePlugins) -> RunScenario:
    """Run a scenario with plugins that are not installed, in the test's own folder.

    `run_scenario(text, my_package.plugin)` returns the result. A small log, `trace.swf`, lies
    beside the scenario: 40 jobs of up to 16 processors, or the given `jobs`.
    """

    def run_it(
        text: str, *modules: ModuleType, jobs: Iterable[hpcsched.TracedJob] | None = None
    ) -> hpcsched.RunResult:
        use_plugins(*modules)
        log = sample_workloads()[0].jobs if jobs is None else jobs
        lines = (" ".join(map(str, _swf_fields(*traced))) + "\n" for traced in log)
        (tmp_path / "trace.swf").write_text("".join(lines), encoding="utf-8")
        # A file and not a text: relative paths in the scenario start at its folder.
        scenario = tmp_path / "scenario.yaml"
        scenario.write_text(text, encoding="utf-8")
        return hpcsched.run(hpcsched.load_scenario(scenario), tmp_path / "run", force=True)

    return run_it


def _swf_fields(job: hpcsched.Job, run_time: int) -> Iterator[int]:
    """Yield the fields of a job's record; the scenario maps its processors to units."""
    numbers = (job.user, job.group, job.application, job.queue, job.partition)
    yield from (job.job_id, job.submit_time, -1, run_time, job.units, -1, -1)
    yield from (job.units, job.requested_time, -1, 1)
    yield from (*(-1 if number is None else number for number in numbers), -1, -1)


SEEDS = range(3)
"""Seeds of the sample workloads of a check."""


def workloads(
    seeds: Iterable[int], forms: Iterable[str] = ("",)
) -> Iterator[tuple[SampleWorkload, str, str]]:
    """Yield the sample workloads of some seeds in each form, and names for notes.

    Parameters
    ----------
    forms
        `nodes` or `units`, with the number of free units where all units are equal.
    """
    for seed in seeds:
        for workload, form in product(sample_workloads(seed), forms):
            if workload.uniform or form != "units":
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
