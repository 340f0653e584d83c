"""Replays in memory: many in one process, over one workload that is read once."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from hpcsched.errors import Finding, InputError
from hpcsched.metrics.metric import ChosenMetric, RunTables
from hpcsched.runs.assembly import Assembly, assemble, parts_of
from hpcsched.runs.recorder import (
    job_table,
    joined_left,
    joined_rounds,
    round_table,
    without_rejected,
)
from hpcsched.runs.resource_records import down_amounts
from hpcsched.runs.tables import ArrowTable
from hpcsched.scenario import Scenario, load_scenario
from hpcsched.simulation.event_loop import AHEAD, EventLoop
from hpcsched.simulation.parts import Parts
from hpcsched.simulation.records import Written
from hpcsched.simulation.replay_admission import admitted
from hpcsched.simulation.replay_choices import obstacles
from hpcsched.system.system import System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_batches import (
    NO_JOBS,
    GivesColumns,
    JobColumns,
    RequestNumbers,
    columns_of,
    joined_columns,
    records_of,
)
from hpcsched.workload.trace_source import TraceAccount

_log = logging.getLogger(__name__)

_BOUND_TO = ("system", "trace", "seed", "partitions")
"""The blocks of a scenario on which it depends which jobs are read."""


@dataclass(frozen=True)
class Workload:
    """Jobs of a scenario's trace, in order of submission, for its system.

    Attributes
    ----------
    batches
        Jobs as columns; None if they were read as records.
    """

    account: TraceAccount
    read_for: Mapping[str, object]
    batches: tuple[JobColumns, ...] | None = None
    records: tuple[TracedJob, ...] = ()
    comments: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Return the counts of records and jobs, on one line."""
        return f"Workload(records read: {self.account.read}, jobs: {self.account.submitted})"

    @cached_property
    def jobs(self) -> tuple[TracedJob, ...]:
        """Jobs one by one."""
        return self.records if self.batches is None else tuple(records_of(self.batches))

    @cached_property
    def columns(self) -> tuple[JobColumns, ...]:
        """Jobs as columns, in batches."""
        if self.batches is not None:
            return self.batches
        return tuple(columns_of(self.records, RequestNumbers()))

    def suits(self, scenario: Scenario) -> bool:
        """Return True if a scenario would read these very jobs."""
        return self.read_for == read_for(scenario)


class Figures(Mapping[str, float | None]):
    """Metrics of a replay by name, each computed when it is first used."""

    def __init__(self, run: RunTables, metrics: Mapping[str, ChosenMetric]) -> None:
        self._run, self._metrics = run, metrics
        self._known: dict[str, float | None] = {}

    def __getitem__(self, name: str) -> float | None:
        if name not in self._known:
            self._known[name] = self._metrics[name].metric.measure(self._run)
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._metrics)

    def __len__(self) -> int:
        return len(self._metrics)


class Replay:
    """Results of a replay; each is computed when it is first used.

    Attributes
    ----------
    in_python : tuple of str
        What needed Python at each event; empty if the whole replay ran in compiled code.
    """

    def __init__(self, assembly: Assembly, written: "_Written", in_python: tuple[str, ...]) -> None:
        self._assembly, self._written, self.in_python = assembly, written, in_python

    @cached_property
    def jobs(self) -> pa.Table:
        """All jobs that ran, in the order in which they left.

        The columns are those of `jobs.parquet`; nodes are missing unless asked for.
        """
        return self._written.jobs()

    @cached_property
    def rounds(self) -> pa.Table:
        """All dispatching rounds, with the columns of `rounds.parquet`."""
        return self._written.rounds()

    @cached_property
    def metrics(self) -> Figures:
        """The installed metrics by name."""
        assembly = self._assembly
        down = down_amounts(assembly.outages, assembly.system)
        tables = ArrowTable(self.jobs), ArrowTable(self.rounds)
        return Figures(RunTables(*tables, assembly.capacity, down), assembly.metrics())

    @cached_property
    def objective(self) -> float | None:
        """The scenario's objective over all jobs; None if no job ran."""
        return self._assembly.objective.measure(ArrowTable(self.jobs))

    def __repr__(self) -> str:
        """Return the numbers of jobs and rounds, and the objective, on one line."""
        jobs, rounds = self.jobs.num_rows, self.rounds.num_rows
        return f"Replay(jobs that ran: {jobs}, rounds: {rounds}, objective: {self.objective})"

    @property
    def start_times(self) -> dict[int, int]:
        """Start time of each job that ran, by job number, in seconds."""
        numbers, starts = self.jobs["job_id"].to_numpy(), self.jobs["start_time"].to_numpy()
        return dict(zip(numbers.tolist(), starts.tolist(), strict=True))


def read_workload(scenario: Scenario | Path | str | Mapping[str, Any]) -> Workload:
    """Return the jobs of a scenario's trace, for replays of scenarios that share it."""
    scenario = _loaded(scenario)
    source = assemble(scenario).source
    columns = source.job_columns(RequestNumbers()) if isinstance(source, GivesColumns) else None
    batches = None if columns is None else tuple(columns)
    records = tuple(source.jobs()) if batches is None else ()
    comments = tuple(source.comments)
    return Workload(source.account, read_for(scenario), batches, records, comments)


def replay(
    scenario: Scenario | Path | str | Mapping[str, Any],
    workload: Workload | None = None,
    *,
    places: bool = False,
) -> Replay:
    """Replay a scenario in memory: no run directory, no observers, and many at a time.

    Parameters
    ----------
    workload : Workload, optional
        The jobs of its trace, where they have been read already.
    places : bool, optional
        Whether the table of jobs says on which nodes they ran. On a large system that is most of
        what a replay writes, and no metric looks at it.

    Returns
    -------
    Replay
        Start times and figures. They are those that `run` comes to.

    Raises
    ------
    InputError
        Where the scenario plans off-line, or the workload is that of another trace or system.
    HpcschedError
        As `run` does.

    Notes
    -----
    Where a scenario needs no Python at each event, its replay is compiled code that holds no lock
    of the interpreter, so that several threads replay at the same time. `Replay.in_python` says
    what needs it otherwise.

    Examples
    --------
    >>> import hpcsched
    >>> path = "scenarios/small-easy.yaml"
    >>> workload = hpcsched.read_workload(hpcsched.load_scenario(path))
    >>> orders = {}
    >>> for order in ("fcfs", "sjf", "saf"):
    ...     scenario = hpcsched.load_scenario(path, [f"dispatcher={{name: easy, order: {order}}}"])
    ...     orders[order] = hpcsched.replay(scenario, workload).metrics["mean_wait_time"]
    >>> min(orders, key=orders.get)
    'sjf'
    """
    scenario = _loaded(scenario)
    if scenario.simulation.mode == "offline":
        message = "a replay in memory is on-line; use run for a scenario with 'mode: offline'"
        raise InputError(Finding("not-in-memory", message, key="simulation.mode"))
    if workload is None:
        workload = read_workload(scenario)
    elif not workload.suits(scenario):
        message = (
            "the workload was read for a scenario with another system, trace, seed or partitions;"
            " expected one that read_workload returns for this scenario"
        )
        raise InputError(Finding("other-workload", message, key="trace"))
    # Observers write into a run directory, and a replay in memory has none.
    if scenario.observers:
        names = ", ".join(choice.plugin_name for choice in scenario.observers)
        _log.info("a replay in memory has no observers; left out: %s", names)
    assembly = assemble(scenario.model_copy(update={"observers": ()})).build_all()
    parts = parts_of(assembly, ())
    in_python = tuple(obstacles(parts))
    if not in_python:
        loop, batches = EventLoop(parts, places=places), admitted(workload.columns, parts)
        return Replay(assembly, _written(loop, batches), in_python)
    # Recorded starts are learned as the trace is read.
    jobs = workload.jobs if parts.recorded is None else assembly.source.jobs()
    return Replay(assembly, _replay_in_python(parts, jobs, places=places), in_python)


def _loaded(scenario: Scenario | Path | str | Mapping[str, Any]) -> Scenario:
    return scenario if isinstance(scenario, Scenario) else load_scenario(scenario)


def read_for(scenario: Scenario) -> dict[str, object]:
    """Return the blocks of a scenario on which it depends which jobs are read."""
    return {name: getattr(scenario, name) for name in _BOUND_TO}


class _Written(NamedTuple):
    """Output of a replay, and the jobs that it read."""

    system: System
    parts: Sequence[Written]
    read: Sequence[JobColumns]

    def jobs(self) -> pa.Table:
        gone = without_rejected(joined_left([part.left for part in self.parts]))
        return job_table(self.system, joined_columns(self.read).take(gone.sequence), gone)

    def rounds(self) -> pa.Table:
        rounds = joined_rounds([part.rounds for part in self.parts])
        remarks = [one for part in self.parts for one in part.remarks]
        return round_table(self.system, rounds, remarks)


def replay_in_python(
    parts: Parts, trace: Iterable[TracedJob], *, places: bool
) -> tuple[pa.Table, pa.Table]:
    """Replay jobs under a dispatcher in Python; return the tables of jobs that ran and rounds."""
    written = _replay_in_python(parts, trace, places=places)
    return written.jobs(), written.rounds()


def _replay_in_python(parts: Parts, trace: Iterable[TracedJob], *, places: bool) -> _Written:
    loop = EventLoop(parts._replace(observers=()), places=places, in_python=True)
    return _written(loop, admitted(columns_of(trace, RequestNumbers(), AHEAD), parts))


def _written(loop: EventLoop, batches: Iterable[JobColumns]) -> _Written:
    """Replay jobs; return the output."""
    read = [NO_JOBS]

    def reading() -> Iterator[JobColumns]:
        for columns in batches:
            read.append(columns)
            yield columns

    return _Written(loop.parts.system, list(loop.run(reading())), read)
