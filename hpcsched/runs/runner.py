"""Execution of a scenario: assembly, replay, and run directory."""

import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from hpcsched.dispatching.additional import DataProvider
from hpcsched.dispatching.core.compile_time import told_of_compiling
from hpcsched.dispatching.offline.offline_problem import OfflinePlan
from hpcsched.monitoring.run_state import remove_state
from hpcsched.results.directory import RunDirectory, create
from hpcsched.results.files import SCENARIO
from hpcsched.results.manifest import Status, finish_manifest, start_manifest
from hpcsched.results.offline import offline_figures
from hpcsched.results.outages import down_amounts, outage_figures, write_outages
from hpcsched.results.pools import pool_summary
from hpcsched.results.process_usage import ProcessUsage
from hpcsched.results.summary import (
    Breakdown,
    ChosenMetric,
    ChosenObjective,
    Left,
    summarize,
    write_summary,
)
from hpcsched.results.timing import write_timing
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.column_run import ColumnRun
from hpcsched.runs.event_run import EventRun
from hpcsched.runs.watching import Watching
from hpcsched.scenario import Scenario, load_scenario, resolved_yaml
from hpcsched.scenario.review import not_reproducible
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.observer_data import givers_among
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import needs_reasons, obstacles
from hpcsched.workload.job_batches import NeedsPythonError
from hpcsched.workload.trace_source import has_dependencies


@dataclass(frozen=True)
class RunResult:
    """A finished run."""

    directory: RunDirectory

    @property
    def summary(self) -> dict[str, Any]:
        """Content of `summary.json`."""
        return self.directory.summary

    @cached_property
    def jobs(self) -> pa.Table:
        """All jobs that have left the system, as an Arrow table with the columns of `jobs.parquet`.

        An Arrow table is what the file is decoded into, with all of its types: whole numbers that
        may be missing, structs and lists. pandas (`to_pandas(types_mapper=pandas.ArrowDtype)`),
        polars (`polars.from_arrow`) and DuckDB work on its memory without copying it, so that none
        of them is chosen for the user. Raises InputError where the file is damaged.
        """
        return self.directory.all_jobs.whole()

    @cached_property
    def rounds(self) -> pa.Table:
        """All dispatching rounds, as an Arrow table with the columns of `rounds.parquet`."""
        return self.directory.rounds.whole()


def open_run(directory: Path | str) -> RunResult:
    """Return the finished run in a directory.

    Raises
    ------
    InputError
        If it is no finished run.
    """
    return RunResult(RunDirectory.open(Path(directory)))


def run(
    scenario: Scenario | Path | str,
    out: Path | str | None = None,
    *,
    force: bool = False,
    progress: bool = False,
    watch: bool = False,
) -> RunResult:
    """Replay a scenario, given as such or as a file, and write its run directory.

    `out` is the run directory, by default `runs/NAME`; `force` replaces a run that is there.
    `progress` shows a bar on standard error if that is a terminal. `watch` shows the queue, the
    system and the decisions there instead, or writes a line now and then if it is no terminal.
    The logger `hpcsched` tells what is replayed in compiled code, and what needs Python. An
    interrupted or failed run leaves a valid directory that says so, and what interrupted it is
    raised.
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    folder = Path(out) if out is not None else Path("runs") / scenario.name
    assembly = assemble(scenario, folder=folder).build_all()
    metrics = assembly.metrics()
    watching = Watching(assembly, progress=progress, watch=watch)
    with create(folder, force=force):
        return _write(assembly, metrics, watching)


def _write(
    assembly: Assembly, metrics: Mapping[str, ChosenMetric], watching: Watching
) -> RunResult:
    """Replay an assembled scenario into its folder, which is empty and held; see `run`."""
    scenario, folder = assembly.scenario, assembly.folder
    observers = assembly.observers()
    # The manifest comes first: it marks the directory as a run's.
    manifest = start_manifest(
        folder,
        scenario=scenario.name,
        seed=scenario.seed,
        trace_files=assembly.source.files,
        plugins=assembly.distributions(),
        not_reproducible_because=[why for _, why in not_reproducible(scenario)],
    )
    (folder / SCENARIO).write_text(resolved_yaml(scenario), encoding="utf-8")
    if scenario.outages is not None:
        write_outages(folder, assembly.outages)
    parts = parts_of(assembly, observers)._replace(givers=_givers(scenario, observers))
    in_python = _in_python(assembly, parts)
    loop: ColumnRun | EventRun
    if in_python:
        loop = EventRun(assembly, parts, watching, in_python)
    else:
        loop = ColumnRun(assembly, parts, watching)
    status: Status = "failed"
    try:
        try:
            with _stopped_by_interrupt(loop), told_of_compiling(watching.tell_compiling):
                loop.run()
        except NeedsPythonError as why:
            loop.close()
            loop = EventRun(assembly, begun_anew(assembly, parts), watching, [str(why)])
            with _stopped_by_interrupt(loop), told_of_compiling(watching.tell_compiling):
                loop.run()
        status = "interrupted" if loop.stopped else "complete"
    except KeyboardInterrupt:
        status = "interrupted"
        raise
    finally:
        loop.close()
        left = None if status == "complete" else Left(loop.waiting, loop.running)
        write_summary(folder, _summary(assembly, metrics, left, loop.plan))
        write_timing(folder)
        finish_manifest(folder, manifest, status, assembly.source.comments, loop.in_python)
        remove_state(folder)
    if loop.stopped:
        raise KeyboardInterrupt
    return RunResult(RunDirectory.open(folder))


def _in_python(assembly: Assembly, parts: Parts) -> list[str]:
    """Return the parts of a run that need Python at each event, in words."""
    scenario = assembly.scenario
    found = [
        f"the observer {choice.plugin_name}"
        for choice, observer in zip(scenario.observers, parts.observers, strict=True)
        if needs_reasons(observer) or isinstance(observer, ProcessUsage)
    ]
    if scenario.simulation.mode == "offline":
        found.append("planning off-line")
    return [*obstacles(parts), *found]


def parts_of(assembly: Assembly, observers: Sequence[Observer]) -> Parts:
    """Return the parts of the simulation of an assembled scenario."""
    scenario = assembly.scenario
    # Units that may not go everywhere cannot be counted.
    pooling = scenario.simulation.pooling and not assembly.partitions.bind_nodes(assembly.system)
    pooling = pooling and not assembly.outages.all and not assembly.system.pools
    return Parts(
        assembly.system,
        assembly.dispatcher,
        scenario.dispatcher.plugin_name,
        assembly.predictor,
        assembly.objective,
        observers,
        assembly.source.uniform_request if pooling else None,
        scenario.simulation.kill_at_requested_time,
        scenario.simulation.latency,
        assembly.correction,
        assembly.partitions,
        assembly.followers,
        has_dependencies(assembly.source),
        assembly.outages,
        predictor_name=scenario.predictor.plugin_name,
        recorded=assembly.recorded,
    )


def _givers(scenario: Scenario, observers: Sequence[Observer]) -> dict[str, DataProvider]:
    """Return the observers that pass data to dispatchers, by name."""
    return givers_among([choice.plugin_name for choice in scenario.observers], observers)


def begun_anew(assembly: Assembly, parts: Parts) -> Parts:
    """Return the parts of a simulation, with every part that learns built once more."""
    scenario, observers = assembly.scenario, assembly.observers()
    assembly.followers.clear()
    return parts._replace(
        dispatcher=assembly.make("dispatcher", scenario.dispatcher),
        observers=observers,
        followers=assembly.followers,
        givers=_givers(scenario, observers),
        predictor=assembly.make("predictor", scenario.predictor),
        correction=assembly.make("correction", scenario.correction),
    )


def _summary(
    assembly: Assembly,
    metrics: Mapping[str, ChosenMetric],
    left: Left | None,
    plan: OfflinePlan | None,
) -> dict[str, Any]:
    scenario, system = assembly.scenario, assembly.system
    choice = scenario.objective
    parameters = choice.model_dump(exclude={choice.plugin_tag})
    summary = summarize(
        assembly.folder,
        capacity=dict(zip(system.resource_types, system.totals, strict=True)),
        account=assembly.source.account,
        metrics=metrics,
        objective=ChosenObjective(choice.plugin_name, assembly.objective, parameters),
        breakdown=Breakdown(scenario.metrics.percentiles, scenario.metrics.class_bounds),
        left=left,
        down=down_amounts(assembly.outages, system),
    )
    if assembly.scenario.outages is not None:
        summary["outages"] = outage_figures(assembly.folder, assembly.outages, system)
    if system.pools:
        summary["pools"] = pool_summary(assembly.folder, system)
    if assembly.recorded is not None:
        summary["recorded_starts"] = asdict(assembly.recorded.figures)
    if plan is not None and left is None:
        summary["offline"] = offline_figures(plan, summary["objective"]["value"])
    return summary


@contextmanager
def _stopped_by_interrupt(loop: ColumnRun | EventRun) -> Iterator[None]:
    """Let Ctrl-C stop a replay at the end of an instant; a second one interrupts as usual."""

    def stop(_signal: int, _frame: object) -> None:
        loop.stop()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may handle signals
        return
    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
