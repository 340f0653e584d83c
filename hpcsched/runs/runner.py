"""Execution of a scenario: assembly, replay, and run directory."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from hpcsched.dispatching.additional import DataProvider
from hpcsched.runs.assembly import Assembly, assemble
from hpcsched.runs.column_run import ColumnRun
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.outage_records import down_amounts, outage_figures, write_outages
from hpcsched.runs.process_usage import ProcessUsage
from hpcsched.runs.run_lifecycle import LoopEnd, Run
from hpcsched.runs.shared_resource_records import shared_resource_summary
from hpcsched.runs.summary import Left, offline_figures
from hpcsched.runs.watching import Watching
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.scenario.review import not_reproducible
from hpcsched.simulation.observer import Observer
from hpcsched.simulation.observer_data import givers_among
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.replay_choices import needs_reasons, obstacles
from hpcsched.system.space import room_for
from hpcsched.workload.job_batches import NeedsPythonError
from hpcsched.workload.trace_source import answers_of, has_dependencies

if TYPE_CHECKING:
    from hpcsched.audit.violations import AuditReport
    from hpcsched.explain.explanation import Explanation

MOST_SLOTS = 2**26
"""Largest number of slots that are counted; larger systems are simulated node by node."""


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

    @property
    def metrics(self) -> dict[str, float | None]:
        """Metrics by name; None where a run has no value."""
        metrics: dict[str, float | None] = self.summary["metrics"]
        return metrics

    @property
    def objective(self) -> float | None:
        """Value of the scenario's objective."""
        value: float | None = self.summary["objective"]["value"]
        return value

    def verify(self) -> "AuditReport":
        """Return the audit of the run against its trace, system and records.

        Raises
        ------
        InputError
            The scenario is not valid here, or the trace cannot be read.
        """
        from hpcsched.audit.auditing import audit_directory  # noqa: PLC0415 (it calls this module)

        return audit_directory(self.directory)

    def explain(self, job_id: int) -> "Explanation":
        """Return why a job started when it did; `str` gives it in sentences.

        Raises
        ------
        InputError
            The run recorded no reasons (observer `reasons`), or has no such job.
        """
        from hpcsched.explain.explanation import explain_run  # noqa: PLC0415 (a replay needs none of it)

        return explain_run(self.directory, job_id)

    def __repr__(self) -> str:
        """Return the scenario, the status, the number of jobs and the folder, on one line."""
        manifest, jobs = self.directory.manifest, self.summary["jobs"]["submitted"]
        what = f"{manifest.scenario}: {manifest.status}, jobs submitted: {jobs}"
        return f"RunResult({what}, objective: {self.objective}, in {self.directory.path})"

    def _repr_html_(self) -> str:
        """Return the account of jobs and the metrics, for notebooks."""
        from hpcsched.report.tables.run_account import account_lines  # noqa: PLC0415 (as above)

        lines = "\n".join(account_lines(self.summary))
        return f"<pre>{escape(self.directory.manifest.scenario)}: {escape(lines)}</pre>"


def open_run(directory: Path | str) -> RunResult:
    """Return the finished run in a directory.

    Raises
    ------
    InputError
        If it is no finished run.
    """
    return RunResult(RunDirectory.open(Path(directory)))


def run(
    scenario: Scenario | Path | str | Mapping[str, Any],
    out: Path | str | None = None,
    *,
    force: bool = False,
    progress: bool = False,
    watch: bool = False,
    page: Path | str | None = None,
) -> RunResult:
    """Replay a scenario, given as such, as a file or as a dictionary; write its run directory.

    `out` is the run directory, by default `runs/NAME`; `force` replaces a run that is there.
    `progress` shows a bar on standard error if that is a terminal. `watch` shows the queue, the
    system and the decisions there instead, or writes a line now and then if it is no terminal.
    `page` is an HTML file that shows the same in a browser while the run goes on.
    The logger `hpcsched` tells what is replayed in compiled code, and what needs Python. An
    interrupted or failed run leaves a valid directory that says so, and what interrupted it is
    raised.
    """
    if not isinstance(scenario, Scenario):
        scenario = load_scenario(scenario)
    folder = Path(out) if out is not None else Path("runs") / scenario.name
    assembly = assemble(scenario, folder=folder).build_all()
    shown_on = None if page is None else Path(page)
    watching = Watching(assembly, progress=progress, watch=watch, page=shown_on)
    directory = replay_into_folder(assembly, watching, force=force)
    if directory.manifest.status == "interrupted":
        raise KeyboardInterrupt
    return RunResult(directory)


def replay_into_folder(assembly: Assembly, watching: Watching, *, force: bool) -> RunDirectory:
    """Replay an assembled scenario into its folder; see `run`.

    An interrupted run is returned like any other: its manifest says so.
    """
    scenario, folder = assembly.scenario, assembly.folder
    because = [why for _, why in not_reproducible(scenario)]
    with Run(
        assembly,
        trace_files=assembly.source.files,
        trace_answers=answers_of(assembly.source),
        not_reproducible_because=because,
        force=force,
    ) as begun:
        # Before the replay: a run that fails still tells which outages it met.
        if scenario.outages is not None:
            write_outages(folder, assembly.outages)
        return begun.carry_out(ReplayLoop(assembly, begun.observers, watching))


class ReplayLoop:
    """Replay in compiled code where that can be, and else in Python."""

    def __init__(
        self, assembly: Assembly, observers: Sequence[Observer], watching: Watching
    ) -> None:
        self._assembly, self._watching = assembly, watching
        givers = _givers(assembly.scenario, observers)
        self._parts = parts_of(assembly, observers)._replace(givers=givers)
        # Decided before the first job is read, so that the manifest can say why and no job is
        # replayed twice; what only the replay can find out comes as NeedsPythonError.
        in_python = _in_python(assembly, self._parts)
        self._loop = ColumnRun(assembly, self._parts, watching, in_python)

    def run(self) -> None:
        """Replay all jobs; begin anew in Python if compiled code turns out not to do."""
        try:
            self._loop.run()
        except NeedsPythonError as why:
            self._loop.close()
            parts = begun_anew(self._assembly, self._parts)
            self._loop = ColumnRun(self._assembly, parts, self._watching, [str(why)])
            self._loop.run()

    def stop(self) -> None:
        """End the replay after the present instant, with jobs left in the system."""
        self._loop.stop()

    def close(self) -> None:
        """Finish all records and displays."""
        self._loop.close()

    @property
    def complete(self) -> bool:
        """False after `stop`."""
        return not self._loop.stopped

    @property
    def end(self) -> LoopEnd:
        """State of the replay."""
        loop, assembly = self._loop, self._assembly
        return LoopEnd(
            Left(loop.waiting, loop.running),
            assembly.source.account,
            assembly.source.comments,
            loop.in_python,
            down_amounts(assembly.outages, assembly.system),
            loop.records,
            loop.not_closed,
        )

    def more_figures(self, summary: Mapping[str, Any], *, complete: bool) -> dict[str, Any]:
        """Return figures of outages, shared resources, recorded starts and the off-line plan."""
        assembly, system, plan = self._assembly, self._assembly.system, self._loop.plan
        more: dict[str, Any] = {}
        if assembly.scenario.outages is not None:
            more["outages"] = outage_figures(assembly.folder, assembly.outages, system)
        if system.shared_resources:
            more["shared_resources"] = shared_resource_summary(assembly.folder, system)
        if assembly.recorded is not None:
            more["recorded_starts"] = asdict(assembly.recorded.figures)
        if plan is not None and complete:
            # The plan's bound holds for all jobs together, so it says nothing about a part.
            more["offline"] = offline_figures(plan, summary["objective"]["value"])
        return more


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
    aggregated = scenario.simulation.aggregate_nodes
    aggregated = aggregated and not assembly.partitions.bind_nodes(assembly.system)
    aggregated = aggregated and not assembly.outages.all and not assembly.system.shared_resources
    unit = assembly.source.uniform_request
    # A node of an amount such as 1 TiB would be worth 2^40 slots, each with room in memory.
    if unit is not None and room_for(assembly.system, unit) > MOST_SLOTS:
        aggregated = False
    return Parts(
        assembly.system,
        assembly.dispatcher,
        scenario.dispatcher.plugin_name,
        assembly.predictor,
        assembly.objective,
        observers,
        unit if aggregated else None,
        scenario.simulation.kill_at_requested_time,
        scenario.simulation.latency,
        assembly.correction,
        assembly.partitions,
        assembly.followers,
        has_dependencies(assembly.source),
        assembly.outages,
        predictor_name=scenario.predictor.plugin_name,
        recorded=assembly.recorded,
        job_limits=assembly.job_limits,
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
