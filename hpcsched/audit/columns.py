"""The trace and the run as arrays, side by side."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from hpcsched.results.directory import RunDirectory
from hpcsched.system.request import Request
from hpcsched.system.system import IntArray, System
from hpcsched.workload.job import TracedJob
from hpcsched.workload.job_columns import BOUNDS, FLAGS, NUMBERED

BoolArray = npt.NDArray[np.bool_]

NAMED = {"queue": "queue_name", "partition": "partition_name"}
"""Where it may tell the name of a number, too."""


@dataclass(frozen=True, slots=True)
class TraceColumns:
    """The jobs of a trace, `[T]`; `unit_request` is `[T, R]`, demands are exact integers.

    `flags` are what its request says yes or no to, by their names (see `FLAGS`). `numbers` are
    those of each job's user, group, application, queue and partition, by these names;
    -1 where the trace gives none. `names` are those of its queue and partition; empty where the
    trace gives none. `after` has the jobs that each has to wait for, and `pool_requests` what each
    draws from pools by the trace.
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
    pool_requests: list[tuple[tuple[str, int], ...]]
    think_time: IntArray
    name: list[str | None]


@dataclass(frozen=True, slots=True)
class RunColumns:
    """The rows of `jobs.parquet`, `[J]`; `unit_request` is `[J, R]`, `flags` as in `TraceColumns`.

    `rejected_by` is empty where nothing is said. `has_start` and `has_end` tell where there is such
    a time; it is 0 elsewhere. Row `j` has `places[j]` places, which follow those of the rows before
    in `node` and `node_units`, `[P]`; `unpaired` tells where there are not as many units as nodes,
    and the places are left out.
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
    run_time: IntArray
    places: IntArray
    unpaired: BoolArray
    node: IntArray
    node_units: IntArray
    requeues: IntArray
    lost_time: IntArray

    @property
    def ran(self) -> BoolArray:
        """Which rows are of jobs that ran, `[J]`."""
        return self.has_start & self.has_end

    @property
    def place_row(self) -> IntArray:
        """The row that each place belongs to, `[P]`."""
        return np.repeat(np.arange(len(self.places)), self.places)


def read_trace(jobs: Iterable[TracedJob], system: System) -> TraceColumns:
    """Return the jobs of a trace as arrays; raises InputError where the trace cannot be read."""
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
        pool_requests=[job.pool_requests for job, _ in rows],
        think_time=np.array([job.think_time for job, _ in rows], dtype=np.int64),
        name=[job.name for job, _ in rows],
    )


def read_run(run: RunDirectory, system: System) -> RunColumns:
    """Return the rows of `jobs.parquet`; raises InputError where it is damaged."""
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


def match(trace: TraceColumns, run: RunColumns) -> tuple[IntArray, IntArray]:
    """Return the rows of the run whose job is in the trace, and the jobs' places in the trace."""
    order = np.argsort(trace.job_id, kind="stable")
    if not len(order):
        return order, order
    known = trace.job_id[order]
    position = np.minimum(np.searchsorted(known, run.job_id), len(known) - 1)
    rows = np.flatnonzero(known[position] == run.job_id)
    return rows, order[position[rows]]


def _largest_share(system: System) -> Callable[[tuple[int, ...]], int]:
    """Return what gives the largest share of the system that a unit asks for, in whole parts."""
    totals: list[int] = system.capacity.sum(axis=0).tolist()
    parts = math.lcm(*(total for total in totals if total))

    @cache
    def share(request: tuple[int, ...]) -> int:
        shares = (a * parts // total for a, total in zip(request, totals, strict=True) if total)
        return max(shares, default=0)

    return share


def flags_of(requests: Sequence[Request]) -> dict[str, BoolArray]:
    """Return what requests say yes or no to, by its names, `[T]` each."""
    return {
        column.name: np.array(list(map(column.get, requests)), dtype=np.bool_)
        for column in BOUNDS
        if column.name in FLAGS
    }


def _numbers(values: list[int | None]) -> IntArray:
    """Return whole numbers, -1 where there is none."""
    return np.array([-1 if value is None else value for value in values], dtype=np.int64)


def whole_numbers(values: pa.Array, none: int = 0) -> IntArray:
    """Return whole numbers, with another where there is none."""
    numbers: IntArray = values.cast(pa.int64()).fill_null(none).to_numpy()
    return numbers


def places_in(table: pa.Table) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Return the places of each row: how many, which are unpaired, nodes, and units on them.

    A node that is null is -1, which no system has.
    """
    node_lists = table["nodes"].combine_chunks()
    unit_lists = table["node_units"].combine_chunks()
    nodes = whole_numbers(node_lists.value_lengths())
    units = whole_numbers(unit_lists.value_lengths())
    paired = nodes == units
    node = whole_numbers(node_lists.flatten(), none=-1)[np.repeat(paired, nodes)]
    node_units = whole_numbers(unit_lists.flatten())[np.repeat(paired, units)]
    return np.where(paired, nodes, 0), ~paired, node, node_units
