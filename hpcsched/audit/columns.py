"""Data of an audit: the trace, the tables of a run, and the scenario's declarations."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.audit.violations import BoolArray
from hpcsched.runs import columns as table_columns
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import (
    INTERRUPTIONS,
    JOBS,
    OUTAGES,
    REASONS,
    ROUNDS,
    SHARED_RESOURCES,
    USAGE,
)
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.outages import NO_OUTAGES, DownTime, Outages, down_time, node_numbers
from hpcsched.system.system import IntArray, System
from hpcsched.whole_files import file_error
from hpcsched.workload.job import FLAGS, NUMBERED, WAITING_TIMES, TracedJob
from hpcsched.workload.preemption import RELEASED, Checkpoints, Preemption
from hpcsched.workload.site_partitions import NO_PARTITIONS, Partitions
from hpcsched.workload.site_policies import NO_POLICIES, LimitsOfJobs, SitePolicies
from hpcsched.workload.trace_source import TraceAnswer, TraceSource, answers_of, recorded_waits

LARGEST = 2**63 - 1
"""Largest whole number that a column of a file can hold; larger amounts are cut to it."""

Amounts = npt.NDArray[Any]

Match = tuple[IntArray, IntArray]
"""Rows of the run, and the jobs' places in the trace, `[M]` each."""

NAMED = {"queue": "queue_name", "partition": "partition_name"}
"""Columns of names beside columns of numbers, by kind."""


class Declared(NamedTuple):
    """Figures, names and settings that a scenario declares.

    Attributes
    ----------
    definitions
        Unit, population and parameters of each metric.
    charge
        Dispatch latency in seconds: for each round, for each job that the dispatcher is shown, for
        each variable of the solver's model, and for each real second of the decision. None if
        decisions take no simulated time.
    not_reproducible
        Reasons why results depend on the machine.
    portfolio
        Dispatchers that the dispatcher chooses from; empty if it does not choose.
    third_party_dispatcher
        True if a plugin of another distribution decides: its reasons and requests are its own.
    calls_again
        True if the dispatcher may ask for rounds by itself.
    backfill_interval
        Seconds between rounds of Slurm's backfill scheduler; None under other dispatchers.
    by_arrival
        True if the order of the queue is that of arrival.
    """

    name: str
    seed: int
    definitions: Mapping[str, Mapping[str, Any]]
    objective: str
    objective_parameters: Mapping[str, Any]
    percentiles: Sequence[int]
    class_bounds: Sequence[int]
    distributions: frozenset[str]
    charge: tuple[Fraction, Fraction, Fraction, Fraction] | None
    not_reproducible: Sequence[str]
    offline: bool
    follows_record: bool = False
    portfolio: Sequence[str] = ()
    observers: frozenset[str] = frozenset()
    third_party_dispatcher: bool = False
    calls_again: bool = False
    backfill_interval: int | None = None
    by_arrival: bool = False


@dataclass(slots=True, kw_only=True)
class TraceColumns:
    """Jobs of a trace, `[T]`.

    Attributes
    ----------
    unit_request
        Amounts per unit, `[T, R]`.
    demand
        Exact integers: largest share of the system, in common parts.
    numbers
        Numbers of user, group, application, queue and partition, `[T]` each; -1 where the trace
        gives none.
    names
        Names of queue and partition, `[T]` each; empty where the trace gives none.
    """

    job_id: IntArray
    submit_time: IntArray
    units: IntArray
    requested_time: IntArray
    think_time: IntArray
    begin_delay: IntArray
    patience: IntArray
    run_time: IntArray
    unit_request: IntArray
    exclusive: BoolArray
    one_unit_per_node: BoolArray
    demand: list[int]
    node_groups: list[frozenset[str] | None]
    allowed_nodes: list[frozenset[int] | None]
    after: list[tuple[int, ...]]
    shared_requests: list[tuple[tuple[str, int], ...]]
    name: list[str | None]
    numbers: dict[str, IntArray]
    names: dict[str, npt.NDArray[np.str_]]


@dataclass(slots=True, kw_only=True)
class LostColumns:
    """Rows of `interruptions.parquet`, `[J]`, and their places, `[P]`.

    Attributes
    ----------
    places
        Number of places of each row. They follow those of the rows before in `node` and
        `node_units`.
    unpaired
        True where the row has not as many units as nodes; its places are left out.
    node
        A null is -1, which no system has.
    preempted_by
        A null is -1; in `jobs.parquet` there is none.
    devices
        List of each row, or None; without devices all are None.
    """

    job_id: IntArray
    start_time: IntArray
    end_time: IntArray
    units: IntArray
    unit_request: IntArray
    places: IntArray
    unpaired: BoolArray
    node: IntArray
    node_units: IntArray
    requeued: BoolArray
    run_time: IntArray
    lost_time: IntArray
    preempted_by: IntArray
    suspended: BoolArray
    devices: npt.NDArray[np.object_]

    @property
    def place_row(self) -> IntArray:
        """Row of each place, `[P]`."""
        return np.repeat(np.arange(len(self.places)), self.places)


@dataclass(slots=True, kw_only=True)
class RunColumns(LostColumns):
    """Rows of `jobs.parquet`, `[J]`; `requeued` where it is a lost attempt of the job.

    Attributes
    ----------
    demand
        Python numbers: floats where a whole one does not fit into the file.
    rejected_by
        Empty for a job that was not rejected.
    patience
        -1 for none, as in the trace.
    backfilled
        0 or 1, -1 for none.
    has_start_time, has_end_time, has_run_time
        True where the row has that time, which is 0 elsewhere.
    """

    submit_time: IntArray
    requested_time: IntArray
    predicted_run_time: IntArray
    requeues: IntArray
    exclusive: BoolArray
    one_unit_per_node: BoolArray
    demand: npt.NDArray[np.object_]
    state: npt.NDArray[np.str_]
    rejected_by: npt.NDArray[np.str_]
    begin_delay: IntArray
    patience: IntArray
    backfilled: IntArray
    has_start_time: BoolArray
    has_end_time: BoolArray
    has_run_time: BoolArray

    @property
    def ran(self) -> BoolArray:
        """Mask of the rows of jobs that ran, `[J]`."""
        return self.has_start_time & self.has_end_time

    @property
    def dismissed(self) -> BoolArray:
        """Mask of the rows of jobs that were rejected while they waited, `[J]`."""
        return np.isin(self.rejected_by, ("dispatcher", "used_up_limit"))

    @property
    def withdrawn(self) -> BoolArray:
        """Mask of the rows of jobs that left while they waited, `[J]`."""
        return np.asarray(self.state == "withdrawn")

    @property
    def left_at(self) -> IntArray:
        """Second at which each job left, `[J]`; of a rejected one its submission."""
        waited = np.where(self.withdrawn, self.patience, 0)
        return np.where(self.ran, self.end_time, self.submit_time + waited)


@dataclass(slots=True, kw_only=True)
class RoundColumns:
    """Rows of `rounds.parquet`, `[K]`.

    Attributes
    ----------
    done
        Second at which the decision took effect.
    variables
        Variables of the solver's model; 0 where no solver was asked.
    call_again_at
        Second for which the dispatcher asked for another round; None where it did not.
    """

    round: IntArray
    now: IntArray
    done: IntArray
    queued: IntArray
    running: IntArray
    started: IntArray
    rejected: IntArray
    waiting: IntArray
    decision_time: npt.NDArray[np.float64]
    variables: list[int]
    call_again_at: list[int | None]

    def rejected_at(self, refused: int) -> IntArray:
        """Return the round, from 0, that rejected each of `refused` jobs, in order of their rows.

        Rows are in the order in which jobs left, so that the first rejected ones belong to the
        first round that rejected some. Jobs beyond the counts of the rounds get the number of
        rounds.
        """
        return np.searchsorted(np.cumsum(self.rejected), np.arange(refused), side="right")


class DueTimes(NamedTuple):
    """Recorded starts of the jobs of a trace: when each is due, and if the log has it, `[T]`."""

    at: IntArray
    recorded: BoolArray


@dataclass(kw_only=True)
class Replayed:
    """Jobs of a trace, their outcomes, and the conditions of their replay.

    Attributes
    ----------
    predictor
        Predictor of hpcsched, by name; empty if it is a plugin of others.
    partial
        True if jobs may be left in the system.
    """

    system: System
    trace: TraceColumns
    jobs: RunColumns
    lost: LostColumns
    partitions: Partitions = NO_PARTITIONS
    policies: SitePolicies = NO_POLICIES
    outages: Outages = NO_OUTAGES
    preemption: Preemption | None = None
    checkpoints: Checkpoints | None = None
    kill_at_requested_time: bool = False
    predictor: str = ""
    partial: bool = False

    @cached_property
    def limits(self) -> LimitsOfJobs:
        """Limits of jobs, as they are declared."""
        return LimitsOfJobs(self.policies, self.partitions)

    @cached_property
    def attempts(self) -> RunColumns:
        """The jobs, and behind them the lost attempts of requeued ones."""
        return with_lost(self.jobs, self.lost)

    @cached_property
    def matched(self) -> Match:
        """Rows of the jobs with their places in the trace."""
        return match(self.trace.job_id, self.jobs.job_id)

    @cached_property
    def attempts_matched(self) -> Match:
        """Rows of the attempts with their jobs' places in the trace."""
        return match(self.trace.job_id, self.attempts.job_id)

    @cached_property
    def down(self) -> DownTime:
        """Intervals in which nodes are out of service."""
        return down_time(self.outages.all)

    @cached_property
    def node_names(self) -> npt.NDArray[np.str_]:
        """Name of each node."""
        return np.array(list(node_numbers(self.system)), dtype=np.str_)

    @cached_property
    def group_names(self) -> npt.NDArray[np.str_]:
        """Name of the group of each node."""
        groups = self.system.groups
        return np.repeat([group.name for group in groups], [group.count for group in groups])

    @cached_property
    def asked(self) -> Amounts:
        """Amounts that each attempt requests, `[J, R]`."""
        asked: Amounts = self.attempts.units[:, np.newaxis] * self.attempts.unit_request
        # Half of 64 bits leaves room for a difference; beyond, Python integers take over.
        return asked.astype(object) if np.sum(asked, dtype=np.float64) > LARGEST / 2 else asked

    @cached_property
    def allocated(self) -> Amounts:
        """Amounts that each attempt holds while it runs, `[J, R]`: if exclusive, its nodes."""
        run, whole = self.attempts, np.zeros_like(self.asked)
        exists = self.exists(run.node)
        np.add.at(whole, run.place_row[exists], self.system.capacity[run.node[exists]])
        return np.where(run.exclusive[:, np.newaxis], whole, self.asked)

    @cached_property
    def suspended_amounts(self) -> Amounts:
        """Amounts that each row of `lost` releases while its job is suspended, `[I, R]`."""
        lost, types = self.lost, np.array(self.system.resource_types)
        asked = lost.units[:, np.newaxis] * lost.unit_request
        whole, exists = np.zeros_like(asked), self.exists(lost.node)
        np.add.at(whole, lost.place_row[exists], self.system.capacity[lost.node[exists]])
        held = np.where(self.exclusive_lost[:, np.newaxis], whole, asked)
        return np.where(lost.suspended[:, np.newaxis] & (types == RELEASED), held, 0)

    @cached_property
    def exclusive_lost(self) -> BoolArray:
        """Mask of the rows of `lost` of exclusive jobs, `[I]`."""
        found = np.zeros(len(self.lost.job_id), dtype=np.bool_)
        rows, of = match(self.trace.job_id, self.lost.job_id)
        found[rows] = self.trace.exclusive[of]
        return found

    def suspended_within(self, of: LostColumns, rows: IntArray) -> IntArray:
        """Return the seconds in which the attempts of some rows were suspended, `[J]`."""
        lost, found = self.lost, np.zeros(len(rows), dtype=np.int64)
        spans: dict[int, list[tuple[int, int]]] = {}
        for k in np.flatnonzero(lost.suspended).tolist():
            span = int(lost.start_time[k]), int(lost.end_time[k])
            spans.setdefault(int(lost.job_id[k]), []).append(span)
        for k in np.flatnonzero(np.isin(of.job_id[rows], list(spans))).tolist():
            start, end = of.start_time[rows[k]], of.end_time[rows[k]]
            inside = spans[int(of.job_id[rows[k]])]
            found[k] = sum(b - a for a, b in inside if start <= a and b <= end)
        return found

    @cached_property
    def saved_in(self) -> dict[int, int]:
        """Seconds of work that checkpoints saved, by row of `lost`."""
        found, lost, c = {}, self.lost, self.checkpoints
        done: dict[int, int] = {}
        rows = np.flatnonzero(lost.requeued & np.isin(lost.job_id, self.trace.job_id))
        for k in rows[np.argsort(lost.start_time[rows], kind="stable")].tolist():
            job_id, before = int(lost.job_id[k]), done.get(int(lost.job_id[k]), 0)
            left = self.work[job_id] - before
            if c is not None:
                found[k] = c.saved(left, int(lost.run_time[k]), restarts=before > 0)
                done[job_id] = before + found[k]
        return found

    @cached_property
    def work(self) -> dict[int, int]:
        """Seconds of work of each job of the trace, by its number."""
        limit = self.trace.run_time
        if self.kill_at_requested_time:
            limit = np.minimum(limit, self.trace.requested_time)
        return dict(zip(self.trace.job_id.tolist(), limit.tolist(), strict=True))

    @cached_property
    def done(self) -> dict[int, int]:
        """Seconds of work that was done before the last attempt, by job number."""
        sums: dict[int, int] = {}
        for k, saved in self.saved_in.items():
            job_id = int(self.lost.job_id[k])
            sums[job_id] = sums.get(job_id, 0) + saved
        return sums

    def work_of(self, row: int) -> int:
        """Return the seconds of work of the last attempt of a job, by its row."""
        job_id = int(self.jobs.job_id[row])
        return self.work.get(job_id, 0) - self.done.get(job_id, 0)

    @cached_property
    def waiting_since(self) -> IntArray:
        """Second from which each attempt waits: submission, or loss of the attempt before."""
        run, since = self.attempts, self.attempts.submit_time.copy()
        order = np.lexsort((np.where(run.ran, run.start_time, LARGEST), run.job_id))
        same = run.job_id[order][1:] == run.job_id[order][:-1]
        since[order[1:][same]] = run.end_time[order[:-1][same]]
        return since

    def idle_amounts(
        self, queued: BoolArray, instants: IntArray, *refused: tuple[IntArray, Amounts]
    ) -> Amounts:
        """Return min(amount waited for, amount free) from each instant on, `[K, R]`.

        Parameters
        ----------
        queued
            Mask of the attempts that wait until they start or are refused, `[J]`; those that are
            withdrawn wait as well.
        refused
            Seconds of refusals, and the amounts that no longer wait then.
        """
        run, down, capacity = self.attempts, self.down, self.system.capacity
        ran, gone, withdrawn = run.ran, capacity[down.node], run.withdrawn
        queued = queued | withdrawn
        refused = (*refused, (run.left_at[withdrawn], self.asked[withdrawn]))
        start, end = run.start_time[ran], run.end_time[ran]
        waits = sums_upto(self.waiting_since[queued], self.asked[queued], instants)
        for times, amounts in ((start, self.asked[ran]), *refused):
            waits = waits - sums_upto(times, amounts, instants)
        busy = sums_upto(start, self.allocated[ran], instants)
        busy = busy - sums_upto(end, self.allocated[ran], instants)
        lost, released = self.lost, self.suspended_amounts
        busy = busy - sums_upto(lost.start_time, released, instants)
        busy = busy + sums_upto(lost.end_time, released, instants)
        busy = busy + sums_upto(down.start, gone, instants) - sums_upto(down.end, gone, instants)
        return np.asarray(np.minimum(waits, capacity.sum(axis=0) - busy))

    def exists(self, node: IntArray) -> BoolArray:
        """Return the mask of the nodes that the system has."""
        return np.asarray((node >= 0) & (node < self.system.node_count))


@dataclass(kw_only=True)
class AuditedRun(Replayed):
    """A run directory with its trace, which is read again, and its scenario's declarations.

    Attributes
    ----------
    due
        Recorded starts; None if the dispatcher does not follow them.
    """

    run: RunDirectory
    source: TraceSource
    answers: Sequence[TraceAnswer]
    declared: Declared
    rounds: RoundColumns
    due: DueTimes | None = None

    @property
    def holds_back(self) -> bool:
        """True if jobs may be hidden from the dispatcher."""
        return (
            any(self.trace.after)
            or bool(self.trace.begin_delay.any())
            or self.limits.any
            or bool(self.outages.all)
            or self.due is not None
        )


def open_run(
    run: RunDirectory, system: System, source: TraceSource, declared: Declared, **conditions: Any
) -> AuditedRun:
    """Read a run and its trace; `conditions` are those of `Replayed`."""
    # First, so that a table with other columns is an error of input and not a crash in a check.
    for name, columns in (
        (JOBS, table_columns.jobs_schema(system)),
        (ROUNDS, table_columns.rounds_schema(system)),
        (SHARED_RESOURCES, table_columns.shared_resources_schema(system)),
        (OUTAGES, table_columns.outages_schema()),
        (INTERRUPTIONS, table_columns.interruptions_schema(system)),
        (REASONS, table_columns.reasons_schema()),
        (USAGE, table_columns.usage_schema()),
    ):
        if (run.path / name).is_file():
            ParquetTable(run.path / name).check_columns(columns)
    answers = answers_of(source)
    waits = recorded_waits(source) if declared.follows_record else None
    trace = read_trace(source.jobs(), system)
    return AuditedRun(
        run=run,
        system=system,
        source=source,
        answers=answers,
        declared=declared,
        trace=trace,
        due=None if waits is None else due_times(trace, waits),
        jobs=run_columns(run.all_jobs.whole(), system),
        lost=read_lost(run, system),
        rounds=read_rounds(run),
        partial=run.partial,
        **conditions,
    )


def read_trace(jobs: Iterable[TracedJob], system: System) -> TraceColumns:
    """Read the jobs of a trace into arrays."""
    # The source is read to its end before its account is complete.
    rows = list(jobs)
    of_jobs = [job for job, _ in rows]
    share = _largest_share(system)

    def values(name: str) -> list[Any]:
        return [getattr(job, name) for job in of_jobs]

    def numbers(name: str) -> IntArray:
        return np.array([-1 if value is None else value for value in values(name)], dtype=np.int64)

    whole = ("job_id", "submit_time", "units", "requested_time", "think_time", *WAITING_TIMES)
    lists = ("node_groups", "allowed_nodes", "after", "shared_requests", "name")
    requests = np.array(values("unit_request"), dtype=np.int64)
    columns: dict[str, Any] = {name: numbers(name) for name in whole}
    columns |= {name: np.array(values(name), dtype=np.bool_) for name in FLAGS}
    columns |= {name: values(name) for name in lists}
    return TraceColumns(
        **columns,
        run_time=np.array([run_time for _, run_time in rows], dtype=np.int64),
        unit_request=requests.reshape(len(rows), len(system.resource_types)),
        demand=[job.units * share(job.unit_request) for job in of_jobs],
        numbers={name: numbers(name) for name in NUMBERED},
        names={
            number: np.array([text or "" for text in values(name)], dtype=np.str_)
            for number, name in NAMED.items()
        },
    )


def due_times(trace: TraceColumns, waits: Mapping[int, int]) -> DueTimes:
    """Return the due times of jobs from their recorded waits; without one, the submit time."""
    numbers = trace.job_id.tolist()
    wait = np.array([waits.get(number, 0) for number in numbers], dtype=np.int64)
    recorded = np.array([number in waits for number in numbers], dtype=np.bool_)
    return DueTimes(trace.submit_time + wait, recorded)


def _largest_share(system: System) -> Callable[[tuple[int, ...]], int]:
    """Return a function from a unit request to its largest share of the system, in common parts."""
    totals: list[int] = system.capacity.sum(axis=0).tolist()
    # Shares in common parts are exact integers; floats would make equal shares differ.
    parts = math.lcm(*(total for total in totals if total))

    @cache
    def share(request: tuple[int, ...]) -> int:
        shares = (a * parts // total for a, total in zip(request, totals, strict=True) if total)
        return max(shares, default=0)

    return share


def run_columns(table: pa.Table, system: System) -> RunColumns:
    """Return the rows of `jobs.parquet` as arrays."""
    times = ("start_time", "end_time", "run_time")
    whole = ("job_id", "submit_time", "units", "requested_time", "predicted_run_time", *times)
    columns = {name: whole_numbers(table[name]) for name in (*whole, "requeues", "lost_time")}
    columns |= {f"has_{name}": table[name].is_valid().to_numpy() for name in times}
    columns |= {name: table[name].to_numpy() for name in FLAGS}
    request = table["unit_request"].combine_chunks()
    amounts = [whole_numbers(request.field(name)) for name in system.resource_types]
    return RunColumns(
        **columns,
        **places_in(table),
        unit_request=np.stack(amounts, axis=1),
        requeued=np.zeros(len(table), dtype=np.bool_),
        suspended=np.zeros(len(table), dtype=np.bool_),
        preempted_by=np.full(len(table), -1),
        demand=objects(table["demand"].to_pylist()),
        state=np.array(table["state"].to_pylist(), dtype=np.str_),
        rejected_by=np.array([by or "" for by in table["rejected_by"].to_pylist()], np.str_),
        begin_delay=whole_numbers(table["begin_delay"]),
        patience=whole_numbers(table["patience"], none=-1),
        backfilled=whole_numbers(table["backfilled"], none=-1),
    )


def lost_columns(table: pa.Table, system: System) -> LostColumns:
    """Return the rows of `interruptions.parquet` as arrays."""
    requests = np.array(table["unit_request"].to_pylist(), dtype=np.int64)
    names = ("job_id", "start_time", "end_time", "run_time", "lost_time")
    return LostColumns(
        **{name: whole_numbers(table[name]) for name in names},
        preempted_by=whole_numbers(table["preempted_by"], none=-1),
        suspended=table["suspended"].to_numpy(),
        units=whole_numbers(table["units"]),
        unit_request=requests.reshape(len(table), len(system.resource_types)),
        requeued=table["requeued"].to_numpy(),
        **places_in(table),
    )


def read_lost(run: RunDirectory, system: System) -> LostColumns:
    """Read the lost attempts of a run."""
    path = run.path / INTERRUPTIONS
    if not path.is_file():
        return lost_columns(table_columns.interruptions_schema(system).empty_table(), system)
    try:
        lost = lost_columns(ParquetTable(path).whole(), system)
    except (TypeError, ValueError):
        raise file_error("damaged-file", path, "it is damaged: requests lack resources") from None
    if lost.unpaired.any():
        raise file_error("damaged-file", path, "it is damaged: units do not match nodes")
    return lost


def read_rounds(run: RunDirectory) -> RoundColumns:
    """Read the rows of `rounds.parquet`."""
    names = ("round", "now", "queued", "running", "started", "rejected", "waiting", "decision_time")
    table = run.rounds.read(*names, "latency", "solver", "call_again_at")
    calls = table["solver"].to_pylist()
    return RoundColumns(
        **{name: table[name].to_numpy() for name in names},
        done=table["now"].to_numpy() + table["latency"].to_numpy(),
        variables=[0 if call is None else call["variables"] for call in calls],
        call_again_at=table["call_again_at"].to_pylist(),
    )


def whole_numbers(values: pa.Array, none: int = 0) -> Any:
    """Return an array of whole numbers, with `none` in place of nulls."""
    return values.cast(pa.int64()).fill_null(none).to_numpy()


def objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Return Python values as an array of as many objects."""
    return np.fromiter(values, dtype=np.object_, count=len(values))


def places_in(table: pa.Table) -> dict[str, Any]:
    """Return the places of the rows of a table, as the columns of `LostColumns`."""
    node_lists = table["nodes"].combine_chunks()
    unit_lists = table["node_units"].combine_chunks()
    nodes = whole_numbers(node_lists.value_lengths())
    units = whole_numbers(unit_lists.value_lengths())
    paired = nodes == units
    any_devices = "devices" in table.column_names
    listed = table["devices"].to_pylist() if any_devices else [None] * len(table)
    return {
        "devices": objects(listed),
        "places": np.where(paired, nodes, 0),
        "unpaired": ~paired,
        "node": whole_numbers(node_lists.flatten(), none=-1)[np.repeat(paired, nodes)],
        "node_units": whole_numbers(unit_lists.flatten())[np.repeat(paired, units)],
    }


_PLACES = ("node", "node_units")
"""Columns with a value for each place."""


def with_lost(run: RunColumns, lost: LostColumns) -> RunColumns:
    """Append a row for each lost attempt of a requeued job.

    Such a row equals its job's, with the state `requeued`. Attempts of unknown jobs are left out,
    and those of failed jobs too, since the run has their row.
    """
    kept = lost.requeued & np.isin(lost.job_id, run.job_id)
    if not kept.any():
        return run
    of = match(run.job_id, lost.job_id[kept])[1]
    yes, places = np.ones(len(of), dtype=np.bool_), kept[lost.place_row]
    own = ("start_time", "end_time", "run_time", "places", "unpaired", "devices")
    more = {
        **{one.name: getattr(run, one.name)[of] for one in fields(run) if one.name not in _PLACES},
        **{name: getattr(lost, name)[kept] for name in own},
        "node": lost.node[places],
        "node_units": lost.node_units[places],
        "state": np.full(len(of), "requeued"),
        "rejected_by": np.full(len(of), ""),
        **dict.fromkeys(("requeued", "has_start_time", "has_end_time", "has_run_time"), yes),
    }
    return replace(run, **{k: np.concatenate((getattr(run, k), v)) for k, v in more.items()})


def levels_over_time(
    keys: IntArray, begin: IntArray, end: IntArray, amounts: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the amounts held over time, by key, such as a node.

    Ends come before begins of the same instant, so that what has no length holds nothing.

    Parameters
    ----------
    amounts
        Amounts held from begin to end, `[N]` or `[N, R]`.
    """
    key, time = np.concatenate((keys, keys)), np.concatenate((begin, end))
    order = np.lexsort((time, key))
    key, time = key[order], time[order]
    new = np.concatenate(([True], (np.diff(key) != 0) | (np.diff(time) != 0)))[: len(key)]
    instants = np.flatnonzero(new)
    changes = np.concatenate((amounts, -amounts))[order]
    # All that a key takes it gives back, so that the sum starts anew with each.
    level = np.cumsum(np.add.reduceat(changes, instants, axis=0), axis=0)
    return key[instants], time[instants], level


def sums_upto(times: IntArray, amounts: Amounts, at: IntArray, side: Any = "right") -> Amounts:
    """Return the cumulative amount at each instant; just before it for `side="left"`."""
    order = np.argsort(times)
    nothing = np.zeros((1, *amounts.shape[1:]), dtype=amounts.dtype)
    sums = np.concatenate((nothing, np.cumsum(amounts[order], axis=0)))
    found: Amounts = sums[np.searchsorted(times[order], at, side=side)]
    return found


def match(known: IntArray, ids: IntArray) -> Match:
    """Return the rows of `ids` that are known, and the place of each, the first of equal ones."""
    order = np.argsort(known, kind="stable")
    if not len(order):
        return order, order
    # An id beyond the last one has no match; the comparison below drops it.
    position = np.minimum(np.searchsorted(known[order], ids), len(order) - 1)
    rows = np.flatnonzero(known[order[position]] == ids)
    return rows, order[position[rows]]
