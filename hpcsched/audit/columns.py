"""The trace, the run and the scenario's declarations as an audit sees them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.runs.columns import (
    interruptions_schema,
    jobs_schema,
    outages_schema,
    reasons_schema,
    rounds_schema,
    usage_schema,
)
from hpcsched.runs.directory import RunDirectory
from hpcsched.runs.files import INTERRUPTIONS, JOBS, OUTAGES, REASONS, ROUNDS, USAGE
from hpcsched.runs.tables import ParquetTable
from hpcsched.system.system import IntArray, Request, System
from hpcsched.whole_files import problem
from hpcsched.workload.job import BOUNDS, FLAGS, NUMBERED, TracedJob


class Charge(NamedTuple):
    """Dispatch latency of a round, in seconds: the sum of its parts.

    Attributes
    ----------
    base
        Seconds for each round.
    per_queued_job
        Seconds for each job that the dispatcher is shown.
    per_variable
        Seconds for each variable of the solver's model.
    measured
        Seconds for each real second of the decision.
    """

    base: Fraction
    per_queued_job: Fraction
    per_variable: Fraction
    measured: Fraction


class Definition(NamedTuple):
    """Unit of a metric, and its population in words."""

    unit: str
    population: str


class Declared(NamedTuple):
    """Figures, names and settings that a scenario declares.

    Attributes
    ----------
    charge
        Dispatch latency; None if decisions take no simulated time.
    not_reproducible
        Reasons why results depend on the machine; empty if they do not.
    offline
        True if the whole trace is planned at once.
    follows_record
        True if the dispatcher follows the starts of the log.
    portfolio
        Dispatchers that the dispatcher chooses from; empty if it does not choose.
    observers
        Observers, by name.
    predictor
        Predictor of hpcsched, by name; empty if it is a plugin of others.
    third_party_dispatcher
        True if a plugin of another distribution decides: its reasons and requests are its own.
    calls_again
        True if the dispatcher may ask for rounds by itself.
    backfill_interval
        Seconds between rounds of Slurm's backfill scheduler; None under other dispatchers.
    """

    name: str
    seed: int
    metric_parameters: Mapping[str, Mapping[str, Any]]
    definitions: Mapping[str, Definition]
    objective: str
    objective_parameters: Mapping[str, Any]
    percentiles: Sequence[int]
    class_bounds: Sequence[int]
    distributions: frozenset[str]
    charge: Charge | None
    not_reproducible: Sequence[str]
    offline: bool
    follows_record: bool = False
    portfolio: Sequence[str] = ()
    observers: frozenset[str] = frozenset()
    predictor: str = ""
    third_party_dispatcher: bool = False
    calls_again: bool = False
    backfill_interval: int | None = None


def expect_columns(run: RunDirectory, system: System) -> None:
    """Check that each table of a run has the columns that a run writes.

    `shared_resources.parquet` is left to the check of shared resources, which knows its columns.
    """
    expected = {
        JOBS: jobs_schema(system),
        ROUNDS: rounds_schema(system),
        OUTAGES: outages_schema(),
        INTERRUPTIONS: interruptions_schema(),
        REASONS: reasons_schema(),
        USAGE: usage_schema(),
    }
    for name, columns in expected.items():
        if (run.path / name).is_file():
            ParquetTable(run.path / name).check_columns(columns)


BoolArray = npt.NDArray[np.bool_]

NAMED = {"queue": "queue_name", "partition": "partition_name"}
"""Columns of names beside columns of numbers, by kind."""


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """Jobs of a trace, `[T]`.

    Attributes
    ----------
    unit_request
        Amounts per unit, `[T, R]`.
    flags
        Yes-or-no parts of the requests, by the names in `FLAGS`, `[T]` each.
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
    unit_request: IntArray
    requested_time: IntArray
    run_time: IntArray
    flags: dict[str, BoolArray]
    node_groups: list[frozenset[str] | None]
    allowed_nodes: list[frozenset[int] | None]
    demand: list[int]
    numbers: dict[str, IntArray]
    names: dict[str, npt.NDArray[np.str_]]
    after: list[tuple[int, ...]]
    shared_requests: list[tuple[tuple[str, int], ...]]
    think_time: IntArray
    name: list[str | None]


@dataclass(frozen=True, slots=True)
class RunColumns:
    """Rows of `jobs.parquet`, `[J]`.

    Attributes
    ----------
    rejected_by
        Empty for a job that was not rejected.
    has_start, has_end, has_run_time
        True where the row has that time, which is 0 elsewhere.
    places
        Number of places of each row. They follow those of the rows before in `node` and
        `node_units`, `[P]`.
    unpaired
        True where the row has not as many units as nodes; its places are left out.
    """

    job_id: IntArray
    submit_time: IntArray
    units: IntArray
    unit_request: IntArray
    requested_time: IntArray
    predicted_run_time: IntArray
    demand: list[Any]
    flags: dict[str, BoolArray]
    state: npt.NDArray[np.str_]
    rejected_by: npt.NDArray[np.str_]
    has_start: BoolArray
    start_time: IntArray
    has_end: BoolArray
    end_time: IntArray
    has_run_time: BoolArray
    run_time: IntArray
    places: IntArray
    unpaired: BoolArray
    node: IntArray
    node_units: IntArray
    requeues: IntArray
    lost_time: IntArray

    @property
    def ran(self) -> BoolArray:
        """Mask of the rows of jobs that ran, `[J]`."""
        return self.has_start & self.has_end

    def on_known_nodes(self, system: System) -> BoolArray:
        """Return the mask of the places on nodes that the system has, `[P]`."""
        return np.asarray((self.node >= 0) & (self.node < system.node_count))

    @property
    def place_row(self) -> IntArray:
        """Row of each place, `[P]`."""
        return np.repeat(np.arange(len(self.places)), self.places)


def read_trace(jobs: Iterable[TracedJob], system: System) -> TraceColumns:
    """Read the jobs of a trace into arrays."""
    # The source is read to its end before its account is complete.
    rows = list(jobs)
    requests = [job.unit_request for job, _ in rows]
    shape = (len(rows), len(system.resource_types))
    share = _largest_share(system)
    return TraceColumns(
        job_id=np.array([job.job_id for job, _ in rows], dtype=np.int64),
        submit_time=np.array([job.submit_time for job, _ in rows], dtype=np.int64),
        units=np.array([job.units for job, _ in rows], dtype=np.int64),
        unit_request=np.array(requests, dtype=np.int64).reshape(shape),
        requested_time=np.array([job.requested_time for job, _ in rows], dtype=np.int64),
        run_time=np.array([run_time for _, run_time in rows], dtype=np.int64),
        flags=flags_of([job.request for job, _ in rows]),
        node_groups=[job.node_groups for job, _ in rows],
        allowed_nodes=[job.allowed_nodes for job, _ in rows],
        demand=[job.units * share(job.unit_request) for job, _ in rows],
        numbers={name: _numbers([getattr(job, name) for job, _ in rows]) for name in NUMBERED},
        names={
            number: np.array([getattr(job, name) or "" for job, _ in rows], dtype=np.str_)
            for number, name in NAMED.items()
        },
        after=[job.after for job, _ in rows],
        shared_requests=[job.shared_requests for job, _ in rows],
        think_time=np.array([job.think_time for job, _ in rows], dtype=np.int64),
        name=[job.name for job, _ in rows],
    )


def read_run(run: RunDirectory, system: System) -> RunColumns:
    """Read the rows of `jobs.parquet` into arrays."""
    whole = ("job_id", "submit_time", "units", "requested_time", "start_time", "end_time")
    requests = [f"unit_request.{name}" for name in system.resource_types]
    later = ("run_time", "predicted_run_time", "requeues", "lost_time")
    others = ("demand", *FLAGS, "state", "rejected_by", "nodes", "node_units")
    table = run.all_jobs.read(*whole, *later, *others, *requests)
    places, unpaired, node, node_units = places_in(table)
    request = table["unit_request"].combine_chunks()
    amounts = [whole_numbers(request.field(name)) for name in system.resource_types]
    return RunColumns(
        **{name: whole_numbers(table[name]) for name in (*whole, *later)},
        has_run_time=table["run_time"].is_valid().to_numpy(),
        unit_request=np.stack(amounts, axis=1),
        demand=table["demand"].to_pylist(),
        flags={name: table[name].to_numpy() for name in FLAGS},
        state=np.array(table["state"].to_pylist(), dtype=np.str_),
        rejected_by=np.array([by or "" for by in table["rejected_by"].to_pylist()], np.str_),
        has_start=table["start_time"].is_valid().to_numpy(),
        has_end=table["end_time"].is_valid().to_numpy(),
        places=places,
        unpaired=unpaired,
        node=node,
        node_units=node_units,
    )


def group_names(system: System) -> npt.NDArray[np.str_]:
    """Return the name of the group of each node."""
    return np.repeat([g.name for g in system.groups], [g.count for g in system.groups])


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


Amounts = npt.NDArray[Any]


def sums_upto(times: IntArray, amounts: Amounts, at: IntArray, side: Any = "right") -> Amounts:
    """Return the cumulative amount at each instant; just before it for `side="left"`."""
    order = np.argsort(times)
    sums = np.concatenate((np.zeros(1, dtype=amounts.dtype), np.cumsum(amounts[order])))
    found: Amounts = sums[np.searchsorted(times[order], at, side=side)]
    return found


def match(trace: TraceColumns, run: RunColumns) -> tuple[IntArray, IntArray]:
    """Match rows of the run with jobs of the trace by their ids.

    Returns
    -------
    rows
        Rows of the run whose job is in the trace, `[M]`.
    places
        Places of these jobs in the trace, `[M]`.
    """
    order = np.argsort(trace.job_id, kind="stable")
    if not len(order):
        return order, order
    known = trace.job_id[order]
    # An id beyond the last one has no match; the comparison below drops it.
    position = np.minimum(np.searchsorted(known, run.job_id), len(known) - 1)
    rows = np.flatnonzero(known[position] == run.job_id)
    return rows, order[position[rows]]


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


def flags_of(requests: Sequence[Request]) -> dict[str, BoolArray]:
    """Return the yes-or-no parts of requests, `[T]` each, by name."""
    return {
        column.name: np.array(list(map(column.get, requests)), dtype=np.bool_)
        for column in BOUNDS
        if column.name in FLAGS
    }


def _numbers(values: list[int | None]) -> IntArray:
    """Return whole numbers, with -1 in place of None."""
    return np.array([-1 if value is None else value for value in values], dtype=np.int64)


def whole_numbers(values: pa.Array, none: int = 0) -> IntArray:
    """Return whole numbers, with `none` in place of nulls."""
    numbers: IntArray = values.cast(pa.int64()).fill_null(none).to_numpy()
    return numbers


def places_in(table: pa.Table) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Return the places of each row of a table.

    Returns
    -------
    places
        Number of places of each row, `[J]`.
    unpaired
        True where the row has not as many units as nodes, `[J]`; its places are left out.
    node, node_units
        Node number and units of each place, `[P]`; a null node is -1, which no system has.
    """
    node_lists = table["nodes"].combine_chunks()
    unit_lists = table["node_units"].combine_chunks()
    nodes = whole_numbers(node_lists.value_lengths())
    units = whole_numbers(unit_lists.value_lengths())
    paired = nodes == units
    node = whole_numbers(node_lists.flatten(), none=-1)[np.repeat(paired, nodes)]
    node_units = whole_numbers(unit_lists.flatten())[np.repeat(paired, units)]
    return np.where(paired, nodes, 0), ~paired, node, node_units


@dataclass(frozen=True, slots=True)
class LostColumns:
    """Rows of `interruptions.parquet`, `[I]`; places as in `RunColumns`."""

    job_id: IntArray
    start_time: IntArray
    end_time: IntArray
    requeued: BoolArray
    places: IntArray
    node: IntArray
    node_units: IntArray

    @property
    def place_row(self) -> IntArray:
        """Row of each place, `[P]`."""
        return np.repeat(np.arange(len(self.places)), self.places)


def lost_columns(
    numbers: list[tuple[int, int, int, bool]], nodes: list[list[int]], units: list[list[int]]
) -> LostColumns:
    """Build the arrays of lost attempts."""
    rows = np.array(numbers, dtype=np.int64).reshape(len(numbers), 4)
    job_id, start, end, requeued = rows.T
    return LostColumns(
        job_id,
        start,
        end,
        requeued.astype(np.bool_),
        np.array([len(of_one) for of_one in nodes], dtype=np.int64),
        np.array([node for of_one in nodes for node in of_one], dtype=np.int64),
        np.array([count for of_one in units for count in of_one], dtype=np.int64),
    )


def read_lost(run: RunDirectory) -> LostColumns:
    """Read the lost attempts of a run."""
    path = run.path / INTERRUPTIONS
    if not path.is_file():
        return lost_columns([], [], [])
    numbers = ("job_id", "start_time", "end_time")
    table = ParquetTable(path).read(*numbers, "requeued", "nodes", "node_units")
    places, unpaired, node, node_units = places_in(table)
    if unpaired.any():
        raise problem("damaged-file", path, "it is damaged: units do not match nodes")
    return LostColumns(
        **{name: whole_numbers(table[name]) for name in numbers},
        requeued=table["requeued"].to_numpy(),
        places=places,
        node=node,
        node_units=node_units,
    )


def with_lost(run: RunColumns, lost: LostColumns) -> RunColumns:
    """Append a row for each lost attempt of a requeued job.

    Such a row equals its job's, with the state `requeued`. Attempts of unknown jobs are left out,
    and those of failed jobs too, since the run has their row.
    """
    # Lost attempts of failed jobs are rows of the run already; a second row would count twice.
    kept = lost.requeued & np.isin(lost.job_id, run.job_id)
    if not kept.any():
        return run
    rows = {job_id: row for row, job_id in enumerate(run.job_id.tolist())}
    of, count = np.array([rows[job_id] for job_id in lost.job_id[kept].tolist()]), int(kept.sum())
    places = kept[lost.place_row]
    more: dict[str, Any] = {
        "state": np.full(count, "requeued"),
        "has_start": np.ones(count, dtype=np.bool_),
        "has_end": np.ones(count, dtype=np.bool_),
        "has_run_time": np.ones(count, dtype=np.bool_),
        "start_time": lost.start_time[kept],
        "end_time": lost.end_time[kept],
        "run_time": (lost.end_time - lost.start_time)[kept],
        "places": lost.places[kept],
        "unpaired": np.zeros(count, dtype=np.bool_),
        "node": lost.node[places],
        "node_units": lost.node_units[places],
        "rejected_by": np.full(count, ""),
    }
    changed: dict[str, Any] = {}
    for field in fields(run):
        whole = getattr(run, field.name)
        if isinstance(whole, dict):
            changed[field.name] = {
                name: np.concatenate((flags, flags[of])) for name, flags in whole.items()
            }
        elif isinstance(whole, list):
            changed[field.name] = [*whole, *(whole[row] for row in of.tolist())]
        else:
            added = more[field.name] if field.name in more else whole[of]
            changed[field.name] = np.concatenate((whole, added))
    return replace(run, **changed)
